// The package's runtime under mono. What it finds is compared by unity.py, or told as a line that starts with 'wrong'.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Packs;

static class RuntimeTests
{
    static bool failed;

    static void Expect(bool holds, string wrong)
    {
        if (holds) return;
        failed = true;
        Console.WriteLine("wrong: " + wrong);
    }

    static Caught Throws<Caught>(Action body, string what) where Caught : Exception
    {
        try
        {
            body();
            Expect(false, what + " is not refused");
        }
        catch (Caught caught)
        {
            return caught;
        }
        catch (Exception other)
        {
            Expect(false, $"{what} throws {other}");
        }
        return null;
    }

    static void Fails(PackStatus status, string code, Action body, string what)
    {
        var caught = Throws<PackException>(body, what);
        Expect(caught == null || caught.Status == status && caught.Code == code, $"{what} is {caught?.Status} {caught?.Code}: {caught?.Message}");
    }

    static int Main(string[] arguments)
    {
        var name = arguments[0];
        if (name == "read") Read(arguments[1], arguments[2], arguments[3], arguments[4]);
        else if (name == "ensure") Ensure(arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
        else if (name == "frames") Frames(arguments[1], arguments[2], arguments[3], arguments[4]);
        else if (name == "reload") Reload(arguments);
        else if (name == "play") Play(arguments[1], arguments[2], arguments[3], arguments[4]);
        else if (name == "bench") Bench(arguments[1], arguments[2]);
        return failed ? 1 : 0;
    }

    // Reading.

    static void Read(string path, string keyFile, string tree, string place)
    {
        var key = Encoding.UTF8.GetBytes(File.ReadAllText(keyFile).Trim());
        using (var pack = Pack.Open(path, key))
        {
            var entries = pack.Entries();
            var files = entries.Where(entry => entry.Kind == PackEntryKind.File).ToList();
            var sources = Directory.GetFiles(tree, "*", SearchOption.AllDirectories).Select(file => file.Substring(tree.Length + 1)).ToList();
            Expect(files.Select(file => file.Path).OrderBy(file => file).SequenceEqual(sources.OrderBy(file => file)), "the list is not that of the source");
            Expect(pack.Count == entries.Count, $"{pack.Count} entries, {entries.Count} listed");
            Expect(pack.ContentSize == files.Sum(file => file.Size), "the content has another size");
            foreach (var file in files)
            {
                var source = File.ReadAllBytes(Path.Combine(tree, file.Path));
                Expect(pack.ReadAllBytes(file.Path).SequenceEqual(source), file.Path + " differs");
                using (var stream = pack.OpenRead(file.Path))
                {
                    var copy = new MemoryStream();
                    stream.CopyTo(copy, 1000);
                    Expect(copy.ToArray().SequenceEqual(source), file.Path + " differs as a stream");
                }
            }
            Console.WriteLine($"{files.Count} files, {pack.ContentSize} bytes");
            Streams(pack, tree, files.OrderByDescending(file => file.Size).First());
            Expect(pack.Contains("index.html") && !pack.Contains("nothing.html"), "Contains");
            Expect(pack.Find("index.html").Size == new FileInfo(Path.Combine(tree, "index.html")).Length, "Find");
            Expect(pack.ReadAllText("index.html") == File.ReadAllText(Path.Combine(tree, "index.html")), "ReadAllText");
            Fails(PackStatus.Missing, "no-such-entry", () => pack.Find("nothing.html"), "a file that is not there");
            Fails(PackStatus.Missing, "no-such-entry", () => pack.OpenRead("assets"), "a stream of a directory");
            Throws<ArgumentException>(() => pack.Find("index.html\0x"), "a path with a zero");
            Throws<ArgumentNullException>(() => pack.Find(null), "no path");
            Threads(pack, files);
            Work(pack, tree, place);
        }
        Keys(path, key);
        Handles(path, key);
    }

    static void Streams(Pack pack, string tree, PackEntry file)
    {
        var source = File.ReadAllBytes(Path.Combine(tree, file.Path));
        using (var stream = pack.OpenRead(file.Path))
        {
            Expect(stream.CanRead && stream.CanSeek && !stream.CanWrite && stream.Length == source.Length, "what the stream can");
            var random = new Random(7);
            for (var number = 0; number < 500; number++)
            {
                var start = random.Next(source.Length + 1);
                var buffer = new byte[random.Next(1, 9000)];
                stream.Position = start;
                var count = stream.Read(buffer, 0, buffer.Length);
                Expect(count == Math.Min(buffer.Length, source.Length - start), "a short read");
                Expect(buffer.Take(count).SequenceEqual(source.Skip(start).Take(count)), $"{count} bytes at {start} differ");
                Expect(stream.Position == start + count, "the position");
            }
            Expect(stream.Seek(10, SeekOrigin.End) == source.Length + 10 && stream.Read(new byte[4], 0, 4) == 0 && stream.ReadByte() == -1, "behind the end");
            Throws<IOException>(() => stream.Seek(-1, SeekOrigin.Begin), "a place before the start");
            Throws<ArgumentOutOfRangeException>(() => stream.Read(new byte[4], 1, 4), "a buffer that is too short");
            Throws<NotSupportedException>(() => stream.Write(new byte[4], 0, 4), "writing");
            stream.Dispose();
            stream.Dispose();
            Expect(!stream.CanRead, "a closed stream can read");
            Throws<ObjectDisposedException>(() => stream.Read(new byte[4], 0, 4), "reading a closed stream");
        }
    }

    static void Threads(Pack pack, List<PackEntry> files)
    {
        var wrong = 0;
        var expected = files.Select(file => pack.ReadAllBytes(file.Path)).ToList();
        Parallel.For(0, 8, thread =>
        {
            for (var number = 0; number < 200; number++)
            {
                var index = (thread * 7 + number) % files.Count;
                if (!pack.ReadAllBytes(files[index].Path).SequenceEqual(expected[index])) Interlocked.Increment(ref wrong);
                // Each thread has its own last error.
                try { pack.Find("nothing " + thread); }
                catch (PackException exception) { if (!exception.ToString().Contains("nothing " + thread)) Interlocked.Increment(ref wrong); }
            }
        });
        Expect(wrong == 0, $"{wrong} of 3200 calls of eight threads are wrong");
    }

    sealed class Shares : IProgress<double>
    {
        readonly Action<double> body;
        internal Shares(Action<double> body) { this.body = body; }
        public void Report(double share) { body(share); }
    }

    static void Work(Pack pack, string tree, string place)
    {
        double last = -1;
        pack.Verify(new Shares(share => last = share));
        Expect(last == 1, $"verifying ends at {last}");
        pack.Verify();
        var restored = Path.Combine(place, "restored");
        pack.Unpack(restored);
        foreach (var file in Directory.GetFiles(tree, "*", SearchOption.AllDirectories))
        {
            Expect(File.ReadAllBytes(restored + file.Substring(tree.Length)).SequenceEqual(File.ReadAllBytes(file)), file + " is unpacked otherwise");
        }
        var full = Throws<PackException>(() => pack.Unpack(restored), "a directory that is full");
        Expect(full?.Status == PackStatus.CannotWrite && full.Message != null, $"a full directory is {full?.Status}");

        var source = new CancellationTokenSource();
        var cancelled = Path.Combine(place, "cancelled");
        Throws<OperationCanceledException>(() => pack.Unpack(cancelled, new Shares(_ => source.Cancel()), source.Token), "a cancelled unpacking");
        Expect(!Directory.Exists(cancelled) || Directory.GetFileSystemEntries(cancelled).Length == 0, "a cancelled unpacking leaves files");
        Throws<OperationCanceledException>(() => pack.Verify(null, source.Token), "what was cancelled before");

        // An exception in a callback ends the call, and is in what it throws.
        var thrown = Throws<PackException>(() => pack.Verify(new Shares(_ => { throw new InvalidOperationException("mine"); })), "a callback that throws");
        Expect(thrown?.InnerException?.Message == "mine", $"the callback's exception is lost: {thrown}");
        // A callback may read, but not begin what waits for other threads.
        PackException inside = null;
        pack.Verify(new Shares(_ =>
        {
            pack.ReadAllBytes("index.html");
            inside = Throws<PackException>(() => pack.Verify(), "verifying in a callback");
        }));
        Expect(inside?.Status == PackStatus.Usage, $"verifying in a callback is {inside?.Status}");
    }

    static void Keys(string path, byte[] key)
    {
        string[] asked = null;
        byte[] packID = null;
        using (var pack = Pack.Open(path, (ids, id) => { asked = ids; packID = id; return key; })) Expect(pack.Contains("index.html"), "asked for the key");
        Expect(asked?.Length == 1 && asked[0].Length == 16 && packID?.Length == 32, "what is asked");
        Fails(PackStatus.WrongKey, "wrong-key", () => Pack.Open(path, new byte[32]), "a wrong key");
        Fails(PackStatus.WrongKey, "wrong-key", () => Pack.Open(path, (ids, id) => new byte[32]), "a wrong key, asked for");
        Fails(PackStatus.NoKey, "no-key", () => Pack.Open(path, new byte[0]), "an empty key");
        Fails(PackStatus.NoKey, "no-key", () => Pack.Open(path, (byte[])null), "no key");
        Fails(PackStatus.NoKey, "malformed-key", () => Pack.Open(path, new byte[] { 1, 2, 3 }), "three bytes");
        Fails(PackStatus.NoKey, "no-key", () => Pack.Open(path, (ids, id) => null), "no key, asked for");
        Fails(PackStatus.NoKey, "no-key", () => Pack.Open(path, (ids, id) => new byte[500]), "a key of 500 bytes");
        var thrown = Throws<PackException>(() => Pack.Open(path, (ids, id) => { throw new IOException("no network"); }), "a function that throws");
        Expect(thrown?.Status == PackStatus.NoKey && thrown.InnerException?.Message == "no network", $"a function that throws: {thrown}");
        Expect(thrown?.Advice != null, "there is no advice");

        var bytes = File.ReadAllBytes(path);
        var other = path + ".other";
        // After its third segment: one that ends inside of a segment cannot be told from a damaged one (FORMAT.md §3.4).
        File.WriteAllBytes(other, bytes.Take(132 + BitConverter.ToInt32(bytes, 96) + 3 * 65536).ToArray());
        Fails(PackStatus.Truncated, "truncated", () => Pack.Open(other, key), "a truncated pack");
        bytes[bytes.Length / 2] ^= 1;
        File.WriteAllBytes(other, bytes);
        var damaged = Throws<PackException>(() =>
        {
            using (var pack = Pack.Open(other, key)) pack.Verify();
        }, "a damaged pack");
        Expect(damaged?.Status == PackStatus.Damaged && damaged.Subject == other, $"a damaged pack is {damaged?.Status}, {damaged?.Subject}");
        File.WriteAllText(other, "This is no pack, though it is long enough to be one if it began otherwise.");
        Fails(PackStatus.BadInput, "not-a-pack", () => Pack.Open(other, key), "a text");
        File.Delete(other);
        Fails(PackStatus.Missing, "missing-input", () => Pack.Open(other, key), "no file");
    }

    // Handles.

    static int OpenFiles { get { return Directory.GetFileSystemEntries("/proc/self/fd").Length; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Abandon(string path, byte[] key, int count)
    {
        for (var number = 0; number < count; number++) Pack.Open(path, key).OpenRead("index.html").ReadByte();
    }

    static void Handles(string path, byte[] key)
    {
        var pack = Pack.Open(path, key);
        var stream = pack.OpenRead("index.html");
        pack.Dispose();
        pack.Dispose();
        Throws<ObjectDisposedException>(() => pack.ReadAllBytes("index.html"), "reading a closed pack");
        Throws<ObjectDisposedException>(() => stream.ReadByte(), "a stream of a closed pack");

        // Closing during reads of other threads: each read ends well, or finds it closed.
        for (var round = 0; round < 50; round++)
        {
            var shared = Pack.Open(path, key);
            var readers = Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
            {
                try { while (true) shared.ReadAllBytes("index.html"); }
                catch (ObjectDisposedException) { return true; }
                catch (Exception) { return false; }
            })).ToArray();
            Thread.Sleep(2);
            shared.Dispose();
            Expect(readers.All(reader => reader.Result), "a read while the pack is closed fails");
        }

        // What nobody closed, the garbage collector closes.
        var before = OpenFiles;
        Abandon(path, key, 40);
        for (var number = 0; number < 20 && OpenFiles > before + 4; number++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        // The collector of mono scans the stack conservatively.
        Expect(OpenFiles <= before + 4, $"{OpenFiles - before} of 40 abandoned packs are open");
        Console.WriteLine($"handles: {OpenFiles - before} of 40 abandoned packs left");
    }

    // The library.

    static PackLibrary Open(string manifest, string trusted, string keyFile, string directory)
    {
        var key = Encoding.UTF8.GetBytes(File.ReadAllText(keyFile).Trim());
        return new PackLibrary(new PackLibraryOptions
        {
            Manifest = manifest, Trusting = new[] { trusted }, Directory = directory, Keys = (ids, id) => key,
        });
    }

    static void Ensure(string manifest, string trusted, string keyFile, string directory, string tree)
    {
        var events = new List<PackEvent>();
        long received = 0;
        using (var library = Open(manifest, trusted, keyFile, directory))
        {
            library.CallbackFailed += exception => Expect(false, $"a callback failed: {exception}");
            library.Changed += change =>
            {
                lock (events) events.Add(change);
                if (change.Kind != "status" || change.State.Status != "downloading") return;
                Expect(change.State.Received <= change.State.Size, "more than all was received");
                if (change.Pack != "game" || change.State.Received == Interlocked.Exchange(ref received, change.State.Received)) return;
                lock (events) Console.WriteLine($"received {change.State.Received} of {change.State.Size}");
                Console.Out.Flush();
            };
            library.Ensure("game").AsTask().Wait();
            var state = library.State("game");
            Expect(state.Status == "ready" && state.Version == 1, $"game is {state.Status}");
            using (var pack = library.Open("game"))
            {
                foreach (var file in Directory.GetFiles(tree))
                {
                    var name = Path.GetFileName(file);
                    Expect(pack.ReadAllBytes(name).SequenceEqual(File.ReadAllBytes(file)), name + " differs");
                    Expect(File.ReadAllBytes(library.FilePath("game", name)).SequenceEqual(File.ReadAllBytes(file)), name + " differs as a file");
                }
            }
            var offers = library.Offers().OrderBy(offer => offer.Id).ToList();
            Expect(offers.Select(offer => offer.Id).SequenceEqual(new[] { "game", "words" }), "what is offered");
            Expect(offers[0].Name == "The \"Game\" über\\alles", $"a name is read as {offers[0].Name}");
            Expect(offers[1].State.Status == "absent" && offers[1].DownloadSize > 0, "what is offered of words");
            Expect(library.Tags()["small"].SequenceEqual(new[] { "words" }), "the tags");
            library.Ensure("words").AsTask().Wait();
            Expect(File.ReadAllText(Path.Combine(library.DirectoryPath("words"), "hello.txt")) == "Hello.\n", "a pack that is unpacked");
            Fails(PackStatus.Missing, "not-installed", () => library.Open("nothing"), "an unknown pack");
            library.Refresh().AsTask().Wait();
        }
        lock (events)
        {
            Expect(events.Any(change => change.Kind == "status" && change.State.Status == "ready"), "no event says that it is ready");
            Console.WriteLine($"ensured: {events.Count} events");
        }
    }

    /// <summary>A loop that draws frames, with one thread, as Unity's main thread has.</summary>
    sealed class FrameLoop : SynchronizationContext
    {
        readonly Queue<Action> next = new Queue<Action>();
        internal readonly Thread Thread = Thread.CurrentThread;
        internal int Frames;

        public override void Post(SendOrPostCallback body, object state)
        {
            lock (next) next.Enqueue(() => body(state));
        }

        internal void Run(Func<Task> body)
        {
            SetSynchronizationContext(this);
            var task = body();
            while (!task.IsCompleted)
            {
                Action[] now;
                lock (next)
                {
                    now = next.ToArray();
                    next.Clear();
                }
                foreach (var action in now) action();
                Frames++;
                Thread.Sleep(5);
            }
            task.GetAwaiter().GetResult();
        }
    }

    static void Frames(string manifest, string trusted, string keyFile, string directory)
    {
        var loop = new FrameLoop();
        loop.Run(async () =>
        {
            using (var library = Open(manifest, trusted, keyFile, directory))
            {
                var fractions = new List<double>();
                library.Changed += change =>
                {
                    Expect(Thread.CurrentThread == loop.Thread, "an event on another thread");
                    if (change.Kind == "progress") fractions.Add(change.Fraction);
                };
                var request = library.EnsureTags(new[] { "play" }, 1);
                Expect(!request.IsDone, "a request is done at once");
                var before = loop.Frames;
                await request;
                Expect(Thread.CurrentThread == loop.Thread, "awaiting goes on on another thread");
                Expect(loop.Frames > before + 2, $"{loop.Frames - before} frames were drawn");
                await Task.Yield();
                Expect(request.Progress == 1 && fractions.Count > 0 && fractions.Last() == 1, $"progress is {request.Progress}");
                Expect(fractions.SequenceEqual(fractions.OrderBy(share => share)), "progress goes back");
                Expect(library.State("game").Status == "ready", "game is not ready");
                Console.WriteLine($"frames: {loop.Frames - before} drawn, {fractions.Count} times progress");
                request.Dispose();
                request.Dispose();

                // What was cancelled is told from what failed.
                library.Remove("game");
                Expect(library.State("game").Status == "absent", "a removed pack is there");
                var source = new CancellationTokenSource();
                var waiting = library.Ensure("game").AsTask(source.Token);
                source.Cancel();
                try { await waiting; Expect(false, "waiting ends well though it was cancelled"); }
                catch (OperationCanceledException) { }
                var cancelled = library.Ensure("game");
                while (library.State("game").Status != "downloading" && !cancelled.IsDone) await Task.Yield();
                library.Cancel("game");
                var ended = "well";
                try { await cancelled; }
                catch (OperationCanceledException) { ended = "cancelled"; }
                catch (PackException exception) { ended = exception.Code; }
                Expect(ended == "cancelled", $"a cancelled download ends {ended}");
                try { await library.Ensure("nothing"); Expect(false, "an unknown pack is ensured"); }
                catch (PackException exception) { Expect(exception.Code == "unknown-pack", $"an unknown pack is {exception.Code}"); }
                var left = library.Ensure("game");
                library.Dispose();
                library.Dispose();
                try { await left; Expect(false, "a request survives its library"); }
                catch (OperationCanceledException) { }
                Throws<ObjectDisposedException>(() => library.Offers(), "a closed library");
            }
        });
        SynchronizationContext.SetSynchronizationContext(null);

        Fails(PackStatus.Usage, "usage", () => new PackLibrary(new PackLibraryOptions { Trusting = new[] { trusted } }), "no directory");
        Fails(PackStatus.Usage, "usage", () => new PackLibrary(new PackLibraryOptions { Trusting = new string[0], Directory = directory + ".b" }), "no key");
        // A handler that throws ends nothing.
        var thrown = 0;
        using (var library = Open(manifest, trusted, keyFile, directory + ".other"))
        {
            library.CallbackFailed += _ => Interlocked.Increment(ref thrown);
            library.Changed += _ => { throw new InvalidOperationException("mine"); };
            library.Ensure("words").AsTask().Wait();
        }
        Expect(thrown > 0, "what a handler throws is lost");
        // A function with keys that throws: the pack is there, and cannot be opened.
        using (var library = new PackLibrary(new PackLibraryOptions
        {
            Manifest = manifest, Trusting = new[] { trusted }, Directory = directory + ".keys", Keys = (ids, id) => { throw new IOException("no network"); },
        }))
        {
            Exception told = null;
            library.CallbackFailed += exception => told = exception;
            var error = Throws<AggregateException>(() => library.Ensure("game").AsTask().Wait(), "a pack without a key");
            var first = error?.InnerException as PackException;
            Expect(first?.Status == PackStatus.NoKey && told is IOException, $"a pack without a key is {first?.Status}, {told}");
        }
    }

    /// <summary>Unloads a domain in the middle of a download, as Unity's editor does when scripts were compiled.</summary>
    static void Reload(string[] arguments)
    {
        for (var round = 0; round < 3; round++)
        {
            var domain = AppDomain.CreateDomain("scripts");
            var status = domain.ExecuteAssembly(typeof(RuntimeTests).Assembly.Location, new[] { "play" }.Concat(arguments.Skip(1)).ToArray());
            Expect(status == 0, "the scripts fail");
            AppDomain.Unload(domain);
            // A call into what was unloaded would end the process.
            Thread.Sleep(300);
            GC.Collect();
        }
        // The directory is free, and the download goes on.
        using (var library = Open(arguments[1], arguments[2], arguments[3], arguments[4])) library.Ensure("game").AsTask().Wait();
        Console.WriteLine("reload: three times in the middle of a download");
    }

    static void Play(string manifest, string trusted, string keyFile, string directory)
    {
        var library = Open(manifest, trusted, keyFile, directory);
        var moved = new ManualResetEvent(false);
        long first = 0;
        library.Changed += change =>
        {
            if (change.Kind != "status" || change.State.Status != "downloading" || change.State.Received == 0) return;
            if (first == 0) first = change.State.Received;
            else if (change.State.Received > first) moved.Set();
        };
        library.Ensure("game");
        Expect(moved.WaitOne(60000), "the download does not move");
        // Nobody disposes of it.
    }

    // Cost.

    /// <summary>The nanoseconds that this thread ran.</summary>
    static long ThreadTime { get { return long.Parse(File.ReadAllText("/proc/thread-self/schedstat").Split(' ')[0]); } }

    static void Bench(string path, string keyFile)
    {
        using (var pack = Pack.Open(path, Encoding.UTF8.GetBytes(File.ReadAllText(keyFile).Trim())))
        using (var stream = pack.OpenRead("big.bin"))
        {
            var buffer = new byte[4096];
            for (var round = 0; round < 2; round++)
            {
                var count = 20000;
                var start = ThreadTime;
                for (var number = 0; number < count; number++)
                {
                    stream.Position = (long)(number % 256) * 4096;
                    if (stream.Read(buffer, 0, buffer.Length) != buffer.Length) Expect(false, "a short read");
                }
                if (round == 1) Console.WriteLine((ThreadTime - start) / count);
            }
        }
    }
}
