using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Packs
{
    /// <summary>
    /// Work of a library that was begun. Await it, or look at <see cref="IsDone"/> in each frame. It is asked for its end without waiting, so a game
    /// without threads goes on drawing. Disposing it ends the waiting and leaves downloads running.
    /// </summary>
    public sealed class PackRequest : IDisposable
    {
        private readonly NativeHandle handle;
        // Closing the library would end its requests, so they keep it.
        private readonly PackLibrary library;
        private readonly TaskCompletionSource<bool> end = new TaskCompletionSource<bool>();
        private double progress;

        internal PackRequest(IntPtr handle, PackLibrary library)
        {
            this.handle = new NativeHandle(handle);
            this.library = library;
            Number = (ulong)handle.ToInt64();
        }

        internal readonly ulong Number;

        /// <summary>How much is done, from 0 to 1. Only requests for tags know it.</summary>
        public double Progress
        {
            get { return Volatile.Read(ref progress); }
            internal set { Volatile.Write(ref progress, value); }
        }

        /// <summary>Whether it ended, well or not. Awaiting it then throws what it failed with.</summary>
        public bool IsDone
        {
            get
            {
                if (end.Task.IsCompleted) return true;
                try
                {
                    var status = Native.packer_wait(handle, 0);
                    if (status == (int)PackStatus.Running) return false;
                    if (status == 0) end.TrySetResult(true);
                    else if (status == (int)PackStatus.Cancelled) end.TrySetCanceled();
                    else end.TrySetException(Native.Failure(status));
                }
                catch (ObjectDisposedException)
                {
                    end.TrySetCanceled();
                }
                return true;
            }
        }

        /// <summary>Returns a task that ends with the request. On Unity's main thread it looks once in each frame, otherwise a hundred times a second.</summary>
        /// <param name="token">Ends the waiting, as <see cref="Dispose"/> does.</param>
        public async Task AsTask(CancellationToken token = default(CancellationToken))
        {
            while (!IsDone)
            {
                if (token.IsCancellationRequested) Dispose();
                else if (SynchronizationContext.Current != null) await Task.Yield();
                else await Task.Delay(10).ConfigureAwait(false);
            }
            await end.Task.ConfigureAwait(false);
        }

        /// <summary>For <c>await</c>.</summary>
        public TaskAwaiter GetAwaiter() { return AsTask().GetAwaiter(); }

        public void Dispose()
        {
            handle.Dispose();
            library.Forget(this);
        }
    }
}
