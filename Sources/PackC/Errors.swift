/// Returns the version of this interface. It is raised when functions are added, and none is ever changed or removed.
@c(packer_version)
public func version() -> UInt32 { 1 }

/// Returns the stable identifier of why this thread's last call failed, such as `wrong-key`; NULL if it did not. Valid until this thread's next call that returns a status.
@c(packer_error_code)
public func errorCode() -> UnsafePointer<CChar>? { unsafe ThreadState.current.text("code") { $0.code.rawValue } }

/// Returns why this thread's last call failed, as one line for people; NULL if it did not. Valid until this thread's next call that returns a status.
@c(packer_error_message)
public func errorMessage() -> UnsafePointer<CChar>? { unsafe ThreadState.current.text("message") { $0.message } }

/// Returns what the failure is about, such as a path; NULL if it is about nothing in particular. Valid until this thread's next call that returns a status.
@c(packer_error_subject)
public func errorSubject() -> UnsafePointer<CChar>? { unsafe ThreadState.current.text("subject") { $0.subject } }

/// Returns what can be done about the failure, for people; NULL if nothing is known. Valid until this thread's next call that returns a status.
@c(packer_error_advice)
public func errorAdvice() -> UnsafePointer<CChar>? { unsafe ThreadState.current.text("advice") { $0.advice?.description } }

/// Frees what a function with `copy` in its name handed over. NULL is ignored.
@c(packer_free)
public func free(_ memory: UnsafeMutableRawPointer?) { unsafe memory?.deallocate() }

/// Closes a handle of any kind. What others still use, such as a pack that a server has, stays open until they are closed, too. A call of another
/// thread that uses the handle goes on to its end. A request that is not finished ends with 130.
///
/// Closing a library ends its downloads, which the next one in the directory continues, and its requests. It returns when none of the app's functions
/// is called for it any more; only if one of these closes it, others may still run. Libraries are to be closed before the process ends.
@c(packer_close)
public func close(_ handle: UInt64) -> PackerStatus {
  call { () throws(PackError) in
    let object = try Handles.all.remove(handle)
    (object as? any Closable)?.close()
  }
}
