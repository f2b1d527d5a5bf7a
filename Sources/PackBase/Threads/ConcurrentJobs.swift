/// Runs jobs that start threads of their own, several at a time.
package enum ConcurrentJobs {
  /// Runs the jobs with the numbers 0 to `count` − 1, and hands over the result of each as soon as it is there.
  ///
  /// The first failure, and the cancellation of the task, cancels the jobs that run. No other is started, and all have ended when this returns.
  ///
  /// - Parameters:
  ///   - limit: the number of jobs that run at the same time. They are started in their order.
  ///   - make: runs a job, at the same time as others.
  ///   - take: receives the results, one at a time, in the order in which the jobs end.
  /// - Throws: the first error of `make` or `take`.
  package static func run<Result: Sendable>(
    _ count: Int, atOnce limit: Int, make: @escaping @Sendable (Int) async throws(PackError) -> Result,
    take: (Int, Result) throws(PackError) -> Void
  ) async throws(PackError) {
    precondition(limit > 0)
    let failure = await withTaskGroup(of: (Int, Swift.Result<Result, PackError>).self) { tasks -> PackError? in
      var next = 0
      func start() {
        guard next < count else { return }
        let number = next
        next += 1
        tasks.addTask {
          do throws(PackError) {
            return (number, .success(try await make(number)))
          } catch {
            return (number, .failure(error))
          }
        }
      }
      for _ in 0..<limit { start() }
      var failure: PackError?
      while let (number, result) = await tasks.next() {
        // What ends after a failure was cancelled, or is not wanted any more.
        guard failure == nil else { continue }
        do throws(PackError) {
          try take(number, try result.get())
          start()
        } catch {
          failure = error
          tasks.cancelAll()
        }
      }
      return failure
    }
    if let failure { throw failure }
  }
}
