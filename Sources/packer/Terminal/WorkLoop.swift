#if !canImport(Darwin)

  /// Runs a task on the thread that waits for it.
  ///
  /// Otherwise the process would start the cooperative pool, three threads and a timer. The work does not need them, because it starts its own
  /// threads. Outside the main thread, the work's memory would also come from a heap that grows page by page.
  final class WorkLoop: TaskExecutor {
    private let jobs = Monitor<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.update { $0.append(job) }
    }

    /// Runs jobs until the work ends the process.
    func run() -> Never {
      while true {
        let due = jobs.wait { jobs -> [UnownedJob]? in
          guard !jobs.isEmpty else { return nil }
          defer { jobs.removeAll() }
          return jobs
        }
        for job in due { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
      }
    }
  }
#endif
