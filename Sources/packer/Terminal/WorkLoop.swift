import PackWork

#if !canImport(Darwin)

  /// Runs a task on the thread that waits for it. Otherwise a process would start the cooperative pool, three threads and a timer, for
  /// work that has threads of its own where it needs them, and would take its memory from a heap that grows page by page.
  final class WorkLoop: TaskExecutor {
    private let jobs = Monitor<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.update { $0.append(job) }
    }

    /// Runs what there is to run, until the work ends the process.
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
