using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Packs
{
    /// <summary>What a library is opened with. packer-library.h describes the members; what is null has its usual value.</summary>
    public sealed class PackLibraryOptions
    {
        /// <summary>The address of the signed manifest, HTTPS. On iOS it may be null: then it is <c>BAManifestURL</c> of the Info.plist.</summary>
        public string Manifest;
        /// <summary>The public keys that may sign the manifest (<c>pkp1-…</c>), or one keys document.</summary>
        public string[] Trusting;
        /// <summary>A directory for this library only.</summary>
        public string Directory;
        /// <summary>In the place of the directory, on Apple's systems: the app group, for Background Assets.</summary>
        public string Group;
        /// <summary>Returns the keys of packs, on any thread. Null with <see cref="Keychain"/>.</summary>
        public KeyFunction Keys;
        /// <summary>On Apple's systems: the service with the keys.</summary>
        public string Keychain;
        /// <summary>A directory with a release inside the app.</summary>
        public string Bundled;
        public bool? ConfirmsVersions;
        public ulong? LowestManifestVersion;
        public int? RefreshIntervalSeconds;
        public string[] Languages;
        /// <summary>The groups of this installation, such as <c>testers</c>, for rollouts.</summary>
        public string[] Groups;
        /// <summary>The share of outcomes of new versions that are told to the server, from 0 to 1, and the percentage of these that is random.</summary>
        public double? SeenShare;
        public int? SeenRandomised;
        public Dictionary<string, string> Fields;
        public bool? AllowsCellular;
        public bool? AllowsExpensive;
        public bool? AllowsConstrained;
        /// <summary>In bytes.</summary>
        public long? Quota;
        /// <summary>In bytes: larger downloads wait for <see cref="PackLibrary.Answer"/>.</summary>
        public long? ConsentAbove;

        internal string Text()
        {
            var members = new Dictionary<string, object>
            {
                { "manifest", Manifest }, { "trusting", Trusting }, { "directory", Directory }, { "group", Group }, { "keychain", Keychain },
                { "bundled", Bundled }, { "confirmsVersions", ConfirmsVersions }, { "lowestManifestVersion", LowestManifestVersion },
                { "refreshInterval", RefreshIntervalSeconds }, { "languages", Languages }, { "groups", Groups },
                { "seenShare", SeenShare }, { "seenRandomised", SeenRandomised },
                { "fields", Fields?.ToDictionary(field => field.Key, field => (object)field.Value) },
                { "allowsCellular", AllowsCellular }, { "allowsExpensive", AllowsExpensive }, { "allowsConstrained", AllowsConstrained },
                { "quota", Quota }, { "consentAbove", ConsentAbove },
            };
            return Json.Text(members.Where(member => member.Value != null).ToDictionary(member => member.Key, member => member.Value));
        }
    }

    /// <summary>The state of a pack: <c>absent</c>, <c>waiting</c>, <c>downloading</c>, <c>installing</c>, <c>sealed</c>, <c>ready</c>, or <c>failed</c>.</summary>
    public sealed class PackState
    {
        public string Status { get; }
        /// <summary>Why it waits: <c>network</c>, <c>turn</c>, <c>retry</c>, or <c>consent</c>.</summary>
        public string Reason { get; }
        /// <summary>The bytes of the download that are there, and all.</summary>
        public long Received { get; }
        public long Size { get; }
        /// <summary>The version that is ready.</summary>
        public long Version { get; }
        /// <summary>What comes of a newer version; null if there is none.</summary>
        public PackState Update { get; }
        /// <summary>Why it failed.</summary>
        public string Code { get; }
        public string Message { get; }
        public string Advice { get; }

        internal PackState(Dictionary<string, object> members)
        {
            Status = members.String("status");
            Reason = members.String("reason");
            Received = members.Integer("received");
            Size = members.Integer("size");
            Version = members.Integer("version");
            Update = members.Object("update") is Dictionary<string, object> update ? new PackState(update) : null;
            Code = members.String("code");
            Message = members.String("message");
            Advice = members.String("advice");
        }
    }

    /// <summary>A pack that is offered for this device.</summary>
    public sealed class PackOffer
    {
        public string Id { get; }
        public string Name { get; }
        public string Description { get; }
        /// <summary>In bytes.</summary>
        public long DownloadSize { get; }
        public long InstallSize { get; }
        public PackState State { get; }

        internal PackOffer(Dictionary<string, object> members)
        {
            Id = members.String("id");
            Name = members.String("name");
            Description = members.String("description");
            DownloadSize = members.Integer("downloadSize");
            InstallSize = members.Integer("installSize");
            State = new PackState(members.Object("state"));
        }
    }

    /// <summary>What a library tells.</summary>
    public sealed class PackEvent
    {
        /// <summary><c>status</c>, <c>list</c>, <c>progress</c>, <c>consent</c>, or <c>lowSpace</c>.</summary>
        public string Kind { get; }
        public string Pack { get; }
        public PackState State { get; }
        /// <summary>From 0 to 1.</summary>
        public double Fraction { get; }
        /// <summary>For <see cref="PackLibrary.Answer"/>.</summary>
        public ulong Question { get; }
        public string[] Packs { get; }
        /// <summary>In bytes.</summary>
        public long Size { get; }
        internal ulong Request { get; }

        internal PackEvent(Dictionary<string, object> members)
        {
            Kind = members.String("event");
            Pack = members.String("pack");
            State = members.Object("state") is Dictionary<string, object> state ? new PackState(state) : null;
            Fraction = members.TryGetValue("fraction", out var fraction) ? (double)fraction : 0;
            Question = (ulong)members.Integer("question");
            Packs = members.Strings("packs");
            Size = members.Integer("size");
            Request = members.String("request") is string number ? ulong.Parse(number) : 0;
        }
    }

    /// <summary>
    /// The packs of an app: downloads, verifies and installs them. Close it with <see cref="Dispose"/>: what was not disposed goes on downloading until
    /// the process ends, or until Unity's editor loads scripts anew.
    /// </summary>
    public sealed class PackLibrary : IDisposable
    {
        private readonly LibraryHandle handle;
        private readonly Callbacks.Context context;
        private readonly SynchronizationContext home = SynchronizationContext.Current;
        // They have progress, and keep packs until they are disposed.
        private readonly ConcurrentDictionary<ulong, PackRequest> tagRequests = new ConcurrentDictionary<ulong, PackRequest>();

        /// <summary>Told when something changes: on the thread that opened the library if it has a <see cref="SynchronizationContext"/>, as Unity's main
        /// thread has, otherwise on any.</summary>
        public event Action<PackEvent> Changed;

        /// <summary>Told what a handler of <see cref="Changed"/> or the function with the keys threw on a thread of the library.</summary>
        public event Action<Exception> CallbackFailed;

        /// <summary>Opens the packs of an app, and starts fetching what its manifest requires. Works without a network, too.</summary>
        public PackLibrary(PackLibraryOptions options)
        {
            context = new Callbacks.Context { Ask = options.Keys, Event = Tell, Failed = exception => CallbackFailed?.Invoke(exception) };
            try
            {
                IntPtr library;
                context.Check(Native.packer_library_open(
                    Native.Text(options.Text()), options.Keys == null ? null : Callbacks.Ask, context.Number, Callbacks.Event, context.Number, out library));
                handle = new LibraryHandle(library, context);
            }
            catch
            {
                context.Dispose();
                throw;
            }
        }

        private void Tell(string json)
        {
            var change = new PackEvent((Dictionary<string, object>)Json.Parse(json));
            if (change.Kind == "progress" && tagRequests.TryGetValue(change.Request, out var request)) request.Progress = change.Fraction;
            if (home != null) home.Post(_ => Changed?.Invoke(change), null);
            else Changed?.Invoke(change);
        }

        /// <summary>Makes packs usable. Goes on if the request is disposed, and survives failures of the network.</summary>
        public PackRequest Ensure(params string[] packs)
        {
            using (var texts = new NativeTexts(packs))
            {
                IntPtr request;
                Native.Check(Native.packer_library_ensure(handle, texts.Pointers, texts.Count, out request));
                return new PackRequest(request, this);
            }
        }

        /// <summary>Makes all packs usable that have any of some tags, and keeps them until the request is disposed.</summary>
        /// <param name="priority">From 0 to 1.</param>
        public PackRequest EnsureTags(string[] tags, double priority = 0.5)
        {
            using (var texts = new NativeTexts(tags))
            {
                IntPtr request;
                Native.Check(Native.packer_library_ensure_tags(handle, texts.Pointers, texts.Count, priority, out request));
                var began = new PackRequest(request, this);
                tagRequests[began.Number] = began;
                return began;
            }
        }

        /// <summary>Fetches the manifest, and starts the downloads that it requires.</summary>
        public PackRequest Refresh()
        {
            IntPtr request;
            Native.Check(Native.packer_library_refresh(handle, out request));
            return new PackRequest(request, this);
        }

        internal void Forget(PackRequest request) { tagRequests.TryRemove(request.Number, out _); }

        /// <summary>Answers the question of an event of the kind <c>consent</c>.</summary>
        public void Answer(ulong question, bool yes) { Native.Check(Native.packer_library_answer(handle, question, yes ? 1 : 0)); }

        /// <summary>Cancels the download of a pack. It is not downloaded again until it is asked for.</summary>
        public void Cancel(string pack) { Native.Check(Native.packer_library_cancel(handle, Native.Text(pack))); }

        /// <summary>Removes a pack from the device. Dispose what <see cref="Open"/> returned before.</summary>
        public void Remove(string pack) { Native.Check(Native.packer_library_remove(handle, Native.Text(pack))); }

        /// <summary>Confirms that the version of a pack works, if <see cref="PackLibraryOptions.ConfirmsVersions"/> is false.</summary>
        public void Confirm(string pack) { Native.Check(Native.packer_library_confirm(handle, Native.Text(pack))); }

        /// <summary>Rolls a pack back to the version before.</summary>
        public void Reject(string pack, string reason) { Native.Check(Native.packer_library_reject(handle, Native.Text(pack), Native.Text(reason))); }

        /// <summary>Changes the languages of the user: BCP 47 tags, the preferred one first.</summary>
        public void SetLanguages(params string[] languages)
        {
            using (var texts = new NativeTexts(languages))
            {
                Native.Check(Native.packer_library_set_languages(handle, texts.Pointers, texts.Count));
            }
        }

        /// <summary>Does what is to do after the app was suspended. On Apple's systems this happens by itself.</summary>
        public void Resume() { Native.Check(Native.packer_library_resume(handle)); }

        /// <summary>Returns the packs that are offered for this device.</summary>
        public List<PackOffer> Offers()
        {
            IntPtr json;
            var offers = Native.Taken(Native.packer_library_copy_offers(handle, out json), json);
            return ((List<object>)((Dictionary<string, object>)Json.Parse(offers))["packs"])
                .ConvertAll(offer => new PackOffer((Dictionary<string, object>)offer));
        }

        /// <summary>Returns the tags with the names of their packs.</summary>
        public Dictionary<string, string[]> Tags()
        {
            IntPtr json;
            var tags = Native.Taken(Native.packer_library_copy_tags(handle, out json), json);
            return ((List<object>)Json.Parse(tags)).Cast<Dictionary<string, object>>()
                .ToDictionary(tag => tag.String("tag"), tag => tag.Strings("packs"));
        }

        /// <summary>Returns the state of a pack.</summary>
        public PackState State(string pack)
        {
            IntPtr json;
            var state = Native.Taken(Native.packer_library_copy_status(handle, Native.Text(pack), out json), json);
            return new PackState((Dictionary<string, object>)Json.Parse(state));
        }

        /// <summary>Returns a pack that was made usable. Its version stays on the device until it is disposed.</summary>
        public Pack Open(string pack)
        {
            IntPtr opened;
            Native.Check(Native.packer_library_pack(handle, Native.Text(pack), out opened));
            return new Pack(opened);
        }

        /// <summary>Returns the path of a file on the disk with the content of a file, for what reads nothing else. Of a pack that is kept encrypted, this
        /// writes it in the clear.</summary>
        public string FilePath(string pack, string path)
        {
            IntPtr file;
            return Native.Taken(Native.packer_library_copy_file(handle, Native.Text(pack), Native.Text(path), out file), file);
        }

        /// <summary>Returns the directory of a pack that is kept unpacked.</summary>
        public string DirectoryPath(string pack)
        {
            IntPtr directory;
            return Native.Taken(Native.packer_library_copy_directory(handle, Native.Text(pack), out directory), directory);
        }

        /// <summary>Closes the library. Its requests end as cancelled.</summary>
        public void Dispose() { handle.Dispose(); }

        /// <summary>Ends the callbacks when the library is closed, also by the garbage collector.</summary>
        private sealed class LibraryHandle : NativeHandle
        {
            private readonly Callbacks.Context context;

            internal LibraryHandle(IntPtr handle, Callbacks.Context context) : base(handle) { this.context = context; }

            protected override bool ReleaseHandle()
            {
                context.Dispose();
                return base.ReleaseHandle();
            }
        }
    }

    internal static class JsonMembers
    {
        internal static string String(this Dictionary<string, object> members, string name)
        {
            return members.TryGetValue(name, out var value) ? value as string : null;
        }

        /// <summary>Returns a number, or 0. A double has all integers below 2^53.</summary>
        internal static long Integer(this Dictionary<string, object> members, string name)
        {
            return members.TryGetValue(name, out var value) && value is double number ? (long)number : 0;
        }

        internal static Dictionary<string, object> Object(this Dictionary<string, object> members, string name)
        {
            return members.TryGetValue(name, out var value) ? value as Dictionary<string, object> : null;
        }

        internal static string[] Strings(this Dictionary<string, object> members, string name)
        {
            return members.TryGetValue(name, out var value) && value is List<object> items ? items.Cast<string>().ToArray() : new string[0];
        }
    }
}
