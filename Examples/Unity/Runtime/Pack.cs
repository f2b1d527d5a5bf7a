using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;

namespace Packs
{
    /// <summary>What an entry of a pack is.</summary>
    public enum PackEntryKind
    {
        File = 0,
        Directory = 1,
    }

    /// <summary>A file or a directory in a pack.</summary>
    public struct PackEntry
    {
        /// <summary>Without a slash at its start or its end.</summary>
        public string Path;
        public PackEntryKind Kind;
        /// <summary>In bytes; 0 for a directory.</summary>
        public long Size;
    }

    /// <summary>An open pack. All members may be used by any thread.</summary>
    public sealed class Pack : IDisposable
    {
        private readonly NativeHandle handle;

        internal Pack(IntPtr handle) { this.handle = new NativeHandle(handle); }

        /// <summary>Opens a pack.</summary>
        /// <param name="key">32 bytes, or the text of a key (<c>pkk1-…</c>) in UTF-8. Wipe it afterwards.</param>
        public static Pack Open(string path, byte[] key)
        {
            IntPtr pack;
            Native.Check(Native.packer_open(Native.Text(path), key, (ulong)(key?.Length ?? 0), out pack));
            return new Pack(pack);
        }

        /// <summary>Opens a pack with the key that a function returns for it, on this thread.</summary>
        public static Pack Open(string path, KeyFunction keys)
        {
            using (var context = new Callbacks.Context { Ask = keys })
            {
                IntPtr pack;
                context.Check(Native.packer_open_asking(Native.Text(path), Callbacks.Ask, context.Number, out pack));
                return new Pack(pack);
            }
        }

        /// <summary>The number of entries.</summary>
        public int Count
        {
            get
            {
                ulong entries, size;
                Native.Check(Native.packer_info(handle, out entries, out size));
                return checked((int)entries);
            }
        }

        /// <summary>The sum of the sizes of all files, in bytes.</summary>
        public long ContentSize
        {
            get
            {
                ulong entries, size;
                Native.Check(Native.packer_info(handle, out entries, out size));
                return checked((long)size);
            }
        }

        /// <summary>Returns the entries, in the byte order of their paths.</summary>
        public List<PackEntry> Entries()
        {
            var entries = new List<PackEntry>();
            using (var context = new Callbacks.Context())
            {
                context.Visit = (path, kind, size) =>
                {
                    entries.Add(new PackEntry { Path = path, Kind = kind, Size = checked((long)size) });
                    return true;
                };
                context.Check(Native.packer_list(handle, Callbacks.Visit, context.Number));
            }
            return entries;
        }

        /// <summary>Returns an entry. Throws <see cref="PackStatus.Missing"/> if there is none.</summary>
        public PackEntry Find(string path)
        {
            int kind;
            ulong size;
            Native.Check(Native.packer_find(handle, Native.Text(path), out kind, out size, null));
            return new PackEntry { Path = path, Kind = (PackEntryKind)kind, Size = checked((long)size) };
        }

        /// <summary>Whether there is such an entry.</summary>
        public bool Contains(string path)
        {
            int kind;
            ulong size;
            var status = Native.packer_find(handle, Native.Text(path), out kind, out size, null);
            if (status != (int)PackStatus.Missing) Native.Check(status);
            return status == 0;
        }

        /// <summary>Returns a whole file, compared with its digest.</summary>
        public byte[] ReadAllBytes(string path)
        {
            var bytes = new byte[Find(path).Size];
            Read(Native.Text(path), 0, bytes, 0, bytes.Length);
            return bytes;
        }

        /// <summary>Returns a whole file as text. Throws if it is not UTF-8.</summary>
        public string ReadAllText(string path) { return new UTF8Encoding(false, true).GetString(ReadAllBytes(path)); }

        /// <summary>Returns a stream of a file, for example for <c>AssetBundle.LoadFromStream</c>.</summary>
        public PackStream OpenRead(string path) { return new PackStream(this, path, Find(path)); }

        /// <summary>Reads bytes of a file.</summary>
        /// <returns>How many: less than <paramref name="count"/> only at the end of the file.</returns>
        public int Read(string path, long offset, byte[] buffer, int start, int count)
        {
            return Read(Native.Text(path), offset, buffer, start, count);
        }

        internal unsafe int Read(byte[] path, long offset, byte[] buffer, int start, int count)
        {
            if (buffer == null) throw new ArgumentNullException(nameof(buffer));
            if (offset < 0 || start < 0 || count < 0 || count > buffer.Length - start) throw new ArgumentOutOfRangeException(nameof(count));
            ulong read;
            fixed (byte* place = buffer)
            {
                Native.Check(Native.packer_read(handle, path, (ulong)offset, place + start, (ulong)count, out read));
            }
            return (int)read;
        }

        /// <summary>Checks every byte of the pack on all processors. Blocks.</summary>
        /// <param name="progress">Gets the share of the content that is done, from 0 to 1, on other threads.</param>
        public void Verify(IProgress<double> progress = null, CancellationToken token = default(CancellationToken))
        {
            Run(progress, token, (context) => Native.packer_verify(handle, Callbacks.Progress, context));
        }

        /// <summary>Unpacks the pack on all processors, all or nothing. Blocks.</summary>
        /// <param name="directory">Must not exist, or must be empty.</param>
        public void Unpack(string directory, IProgress<double> progress = null, CancellationToken token = default(CancellationToken))
        {
            var place = Native.Text(directory);
            Run(progress, token, (context) => Native.packer_unpack(handle, place, Callbacks.Progress, context));
        }

        private static void Run(IProgress<double> progress, CancellationToken token, Func<IntPtr, int> call)
        {
            using (var context = new Callbacks.Context())
            {
                context.Progress = (done, total) =>
                {
                    progress?.Report(total == 0 ? 1 : (double)done / total);
                    return !token.IsCancellationRequested;
                };
                token.ThrowIfCancellationRequested();
                var status = call(context.Number);
                if (status == (int)PackStatus.Cancelled) token.ThrowIfCancellationRequested();
                context.Check(status);
            }
        }

        /// <summary>Closes the pack. Reads of other threads go on to their end.</summary>
        public void Dispose() { handle.Dispose(); }
    }

    /// <summary>
    /// A file of a pack. It can be read and sought, by one thread at a time. It has no buffer: for many small reads, put a <see cref="BufferedStream"/>
    /// around it. Disposing it leaves the pack open.
    /// </summary>
    public sealed class PackStream : Stream
    {
        private readonly Pack pack;
        private readonly byte[] path;
        private readonly long length;
        private long position;
        private bool isClosed;

        internal PackStream(Pack pack, string path, PackEntry entry)
        {
            if (entry.Kind != PackEntryKind.File) throw new PackException(PackStatus.Missing, "no-such-entry", "this is a directory", path, null);
            this.pack = pack;
            this.path = Native.Text(path);
            length = entry.Size;
        }

        public override bool CanRead { get { return !isClosed; } }
        public override bool CanSeek { get { return !isClosed; } }
        public override bool CanWrite { get { return false; } }
        public override long Length { get { return length; } }

        public override long Position
        {
            get { return position; }
            set { Seek(value, SeekOrigin.Begin); }
        }

        public override int Read(byte[] buffer, int offset, int count)
        {
            if (isClosed) throw new ObjectDisposedException(nameof(PackStream));
            // A place behind the end is allowed for a stream, and an error for the library.
            var read = pack.Read(path, Math.Min(position, length), buffer, offset, count);
            position += read;
            return read;
        }

        public override long Seek(long offset, SeekOrigin origin)
        {
            if (isClosed) throw new ObjectDisposedException(nameof(PackStream));
            var place = checked(offset + (origin == SeekOrigin.Begin ? 0 : origin == SeekOrigin.Current ? position : length));
            if (place < 0) throw new IOException("a place before the start of the file");
            return position = place;
        }

        public override void Flush() { }
        public override void SetLength(long value) { throw new NotSupportedException(); }
        public override void Write(byte[] buffer, int offset, int count) { throw new NotSupportedException(); }

        protected override void Dispose(bool disposing)
        {
            isClosed = true;
            base.Dispose(disposing);
        }
    }
}
