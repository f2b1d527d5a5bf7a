using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Packs
{
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate long AskFunction(IntPtr context, IntPtr keyIDs, IntPtr packID, IntPtr key);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int VisitFunction(IntPtr context, IntPtr path, int kind, ulong size);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate int ProgressFunction(IntPtr context, ulong done, ulong total);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal delegate void EventFunction(IntPtr context, IntPtr json);

    /// <summary>The functions of packer.h and packer-library.h. A handle of 64 bits is a pointer here, because the library exists for 64 bits only.</summary>
    internal static class Native
    {
#if UNITY_IOS && !UNITY_EDITOR
        private const string Library = "__Internal";
#else
        private const string Library = "PackCLibrary";
#endif

        [DllImport(Library)] internal static extern uint packer_version();
        [DllImport(Library)] private static extern IntPtr packer_error_code();
        [DllImport(Library)] private static extern IntPtr packer_error_message();
        [DllImport(Library)] private static extern IntPtr packer_error_subject();
        [DllImport(Library)] private static extern IntPtr packer_error_advice();
        [DllImport(Library)] private static extern void packer_free(IntPtr memory);
        [DllImport(Library)] internal static extern int packer_close(IntPtr handle);

        [DllImport(Library)] internal static extern int packer_open(byte[] path, byte[] key, ulong keySize, out IntPtr pack);
        [DllImport(Library)] internal static extern int packer_open_asking(byte[] path, AskFunction ask, IntPtr context, out IntPtr pack);
        [DllImport(Library)] internal static extern int packer_info(NativeHandle pack, out ulong entries, out ulong contentSize);
        [DllImport(Library)] internal static extern int packer_list(NativeHandle pack, VisitFunction visit, IntPtr context);
        [DllImport(Library)] internal static extern int packer_find(NativeHandle pack, byte[] path, out int kind, out ulong size, byte[] sha256);
        [DllImport(Library)] internal static extern unsafe int packer_read(NativeHandle pack, byte[] path, ulong offset, byte* buffer, ulong size, out ulong count);
        [DllImport(Library)] internal static extern int packer_verify(NativeHandle pack, ProgressFunction progress, IntPtr context);
        [DllImport(Library)] internal static extern int packer_unpack(NativeHandle pack, byte[] directory, ProgressFunction progress, IntPtr context);

        [DllImport(Library)]
        internal static extern int packer_library_open(
            byte[] options, AskFunction ask, IntPtr askContext, EventFunction onEvent, IntPtr eventContext, out IntPtr library);
        [DllImport(Library)] internal static extern int packer_library_ensure(NativeHandle library, IntPtr[] packs, ulong count, out IntPtr request);
        [DllImport(Library)]
        internal static extern int packer_library_ensure_tags(NativeHandle library, IntPtr[] tags, ulong count, double priority, out IntPtr request);
        [DllImport(Library)] internal static extern int packer_library_refresh(NativeHandle library, out IntPtr request);
        [DllImport(Library)] internal static extern int packer_wait(NativeHandle request, long milliseconds);
        [DllImport(Library)] internal static extern int packer_library_answer(NativeHandle library, ulong question, int yes);
        [DllImport(Library)] internal static extern int packer_library_cancel(NativeHandle library, byte[] pack);
        [DllImport(Library)] internal static extern int packer_library_remove(NativeHandle library, byte[] pack);
        [DllImport(Library)] internal static extern int packer_library_confirm(NativeHandle library, byte[] pack);
        [DllImport(Library)] internal static extern int packer_library_reject(NativeHandle library, byte[] pack, byte[] reason);
        [DllImport(Library)] internal static extern int packer_library_set_languages(NativeHandle library, IntPtr[] languages, ulong count);
        [DllImport(Library)] internal static extern int packer_library_resume(NativeHandle library);
        [DllImport(Library)] internal static extern int packer_library_copy_offers(NativeHandle library, out IntPtr json);
        [DllImport(Library)] internal static extern int packer_library_copy_tags(NativeHandle library, out IntPtr json);
        [DllImport(Library)] internal static extern int packer_library_copy_status(NativeHandle library, byte[] pack, out IntPtr json);
        [DllImport(Library)] internal static extern int packer_library_copy_file(NativeHandle library, byte[] pack, byte[] path, out IntPtr file);
        [DllImport(Library)] internal static extern int packer_library_copy_directory(NativeHandle library, byte[] pack, out IntPtr directory);
        [DllImport(Library)] internal static extern int packer_library_pack(NativeHandle library, byte[] pack, out IntPtr handle);

        /// <summary>Throws what the last call of this thread failed with, if it failed.</summary>
        internal static void Check(int status)
        {
            if (status != 0) throw Failure(status);
        }

        /// <summary>Returns what the last call of this thread failed with.</summary>
        internal static PackException Failure(int status, Exception inner = null)
        {
            return new PackException(
                (PackStatus)status, String(packer_error_code()), String(packer_error_message()), String(packer_error_subject()),
                String(packer_error_advice()), inner);
        }

        /// <summary>Returns a text as C reads it: UTF-8, with a zero at its end.</summary>
        internal static byte[] Text(string text)
        {
            if (text == null) throw new ArgumentNullException(nameof(text));
            if (text.IndexOf('\0') >= 0) throw new ArgumentException("the text has a zero in it", nameof(text));
            var bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }

        /// <summary>Returns a text that C gave, or null.</summary>
        internal static unsafe string String(IntPtr text)
        {
            if (text == IntPtr.Zero) return null;
            var start = (byte*)text;
            var count = 0;
            while (start[count] != 0) count++;
            return Encoding.UTF8.GetString(start, count);
        }

        /// <summary>Returns a text that C handed over, and frees it.</summary>
        internal static string Taken(int status, IntPtr text)
        {
            Check(status);
            try { return String(text); }
            finally { packer_free(text); }
        }
    }

    /// <summary>A handle of the native library. A call of another thread that uses it goes on to its end when it is disposed.</summary>
    internal class NativeHandle : SafeHandle
    {
        internal NativeHandle(IntPtr handle) : base(IntPtr.Zero, true) { SetHandle(handle); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle() { return Native.packer_close(handle) == 0; }
    }

    /// <summary>Texts as C reads a list of them, for the time of a call.</summary>
    internal sealed class NativeTexts : IDisposable
    {
        private readonly GCHandle[] pins;
        internal readonly IntPtr[] Pointers;

        internal ulong Count { get { return (ulong)Pointers.Length; } }

        internal NativeTexts(string[] texts)
        {
            var bytes = Array.ConvertAll(texts, Native.Text);
            pins = Array.ConvertAll(bytes, text => GCHandle.Alloc(text, GCHandleType.Pinned));
            Pointers = Array.ConvertAll(pins, pin => pin.AddrOfPinnedObject());
        }

        public void Dispose()
        {
            foreach (var pin in pins) pin.Free();
        }
    }
}
