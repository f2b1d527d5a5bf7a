using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using System.Threading;
using AOT;

namespace Packs
{
    /// <summary>Returns a key: 32 bytes, or its text (<c>pkk1-…</c>) in UTF-8; null if there is none.</summary>
    /// <param name="keyIDs">The ids of the keys that open the pack.</param>
    /// <param name="packID">The 32 bytes that identify the pack.</param>
    public delegate byte[] KeyFunction(string[] keyIDs, byte[] packID);

    /// <summary>
    /// The functions that the native library calls. They are static, and their delegates are kept for ever, as ahead-of-time compilation needs it. What
    /// they work for is found by a number, so that a call that comes late finds nothing instead of freed memory. No exception leaves them: it is kept for
    /// the call that caused it.
    /// </summary>
    internal static class Callbacks
    {
        internal static readonly AskFunction Ask = OnAsk;
        internal static readonly VisitFunction Visit = OnVisit;
        internal static readonly ProgressFunction Progress = OnProgress;
        internal static readonly EventFunction Event = OnEvent;

        private static readonly ConcurrentDictionary<long, Context> Contexts = new ConcurrentDictionary<long, Context>();
        private static long last;

        /// <summary>What a call of the native library works for. Disposed when no more of them are expected.</summary>
        internal sealed class Context : IDisposable
        {
            internal readonly IntPtr Number;
            internal KeyFunction Ask;
            internal Func<string, PackEntryKind, ulong, bool> Visit;
            internal Func<ulong, ulong, bool> Progress;
            internal Action<string> Event;
            /// <summary>Gets an exception if there is no call to throw it.</summary>
            internal Action<Exception> Failed;
            /// <summary>The first exception.</summary>
            internal Exception Failure;

            internal Context()
            {
                var number = Interlocked.Increment(ref last);
                Number = new IntPtr(number);
                Contexts[number] = this;
            }

            /// <summary>Throws what a function threw, or what the call failed with.</summary>
            internal void Check(int status)
            {
                if (status != 0) throw Native.Failure(status, Failure);
            }

            public void Dispose()
            {
                Context removed;
                Contexts.TryRemove(Number.ToInt64(), out removed);
            }
        }

        private static Result Run<Result>(IntPtr number, Result without, Func<Context, Result> body)
        {
            Context context = null;
            try
            {
                return Contexts.TryGetValue(number.ToInt64(), out context) ? body(context) : without;
            }
            catch (Exception exception)
            {
                context.Failure = context.Failure ?? exception;
                try { context.Failed?.Invoke(exception); }
                catch { /* Nobody is left to tell. */ }
                return without;
            }
        }

        [MonoPInvokeCallback(typeof(AskFunction))]
        private static long OnAsk(IntPtr number, IntPtr keyIDs, IntPtr packID, IntPtr key)
        {
            return Run(number, 0L, context =>
            {
                var id = new byte[32];
                Marshal.Copy(packID, id, 0, id.Length);
                var found = context.Ask(Native.String(keyIDs).Split(' '), id);
                if (found == null || found.Length > 128) return 0;
                Marshal.Copy(found, 0, key, found.Length);
                return found.Length;
            });
        }

        [MonoPInvokeCallback(typeof(VisitFunction))]
        private static int OnVisit(IntPtr number, IntPtr path, int kind, ulong size)
        {
            return Run(number, 1, context => context.Visit(Native.String(path), (PackEntryKind)kind, size) ? 0 : 1);
        }

        [MonoPInvokeCallback(typeof(ProgressFunction))]
        private static int OnProgress(IntPtr number, ulong done, ulong total)
        {
            return Run(number, 1, context => context.Progress(done, total) ? 0 : 1);
        }

        [MonoPInvokeCallback(typeof(EventFunction))]
        private static void OnEvent(IntPtr number, IntPtr json)
        {
            Run(number, 0, context =>
            {
                context.Event(Native.String(json));
                return 0;
            });
        }
    }
}
