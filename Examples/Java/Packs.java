import com.sun.jna.Callback;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * Packs for Java: the C interface of packer, through JNA.
 *
 * <p>All objects may be used by any thread. packer.h and packer-library.h say what is not said here.
 */
public final class Packs {
  private Packs() {}

  /** Why a call failed. {@code status} and {@code code} are for programs, the texts for people; subject and advice may be null. */
  public static final class PackException extends IOException {
    private static final long serialVersionUID = 1;

    public final int status;
    public final String code;
    public final String subject;
    public final String advice;

    private PackException(int status) {
      super(C.packer_error_message());
      this.status = status;
      code = C.packer_error_code();
      subject = C.packer_error_subject();
      advice = C.packer_error_advice();
    }
  }

  /** Returns the key with one of some ids, as 32 bytes or as its text; null if there is none. */
  public interface Keys {
    byte[] key(String[] ids, byte[] packId) throws Exception;
  }

  /** An entry of a pack. */
  public record Entry(String path, boolean isFile, long size) {}

  /** What has to be closed. */
  private abstract static class Handle implements AutoCloseable {
    private final LongByReference reference = new LongByReference();

    long value() {
      return reference.getValue();
    }

    @Override
    public final synchronized void close() throws PackException {
      long value = value();
      reference.setValue(0);
      if (value != 0) check(C.packer_close(value));
    }
  }

  /** An open pack. */
  public static final class Pack extends Handle {
    private Pack() {}

    /** Opens a pack with a key: 32 bytes, or its text. */
    public static Pack open(Path path, byte[] key) throws PackException {
      Pack pack = new Pack();
      check(C.packer_open(path.toString(), key, key.length, ((Handle) pack).reference));
      return pack;
    }

    /** Opens a pack with the key that a function returns for it. */
    public static Pack open(Path path, Keys keys) throws PackException {
      Pack pack = new Pack();
      check(C.packer_open_asking(path.toString(), asking(keys), null, ((Handle) pack).reference));
      return pack;
    }

    /** Returns all entries, in the byte order of their paths. */
    public List<Entry> entries() throws PackException {
      List<Entry> entries = new ArrayList<>();
      check(C.packer_list(value(), (context, path, kind, size) -> entries.add(new Entry(path, kind == 0, size)) ? 0 : 1, null));
      return entries;
    }

    /** Returns an entry. */
    public Entry find(String path) throws PackException {
      IntByReference kind = new IntByReference();
      LongByReference size = new LongByReference();
      check(C.packer_find(value(), path, kind, size, null));
      return new Entry(path, kind.getValue() == 0, size.getValue());
    }

    /** Returns the content of a file, which is compared with its digest. */
    public byte[] read(String path) throws PackException {
      return read(path, 0, Math.toIntExact(find(path).size()));
    }

    /** Returns bytes of a file, fewer than {@code size} only at its end. */
    public byte[] read(String path, long offset, int size) throws PackException {
      byte[] content = new byte[size];
      LongByReference count = new LongByReference();
      check(Direct.packer_read(value(), path, offset, content, size, count));
      return count.getValue() == size ? content : Arrays.copyOf(content, (int) count.getValue());
    }

    /** Checks everything. {@code progress} gets the bytes that are done, and all, and returns whether to go on; it may be null. */
    public void verify(BiPredicate<Long, Long> progress) throws PackException {
      check(C.packer_verify(value(), stepping(progress), null));
    }

    /** Unpacks into a directory that does not exist, all or nothing. */
    public void unpack(Path directory, BiPredicate<Long, Long> progress) throws PackException {
      check(C.packer_unpack(value(), directory.toString(), stepping(progress), null));
    }

    private static Progress stepping(BiPredicate<Long, Long> progress) {
      return progress == null ? null : (context, done, total) -> progress.test(done, total) ? 0 : 1;
    }
  }

  /** Something that a library does. Closing it ends the waiting; that of tags also ends the use of their packs. */
  public static final class Request extends Handle {
    private Request() {}

    /** Waits for the end. */
    public void await() throws PackException {
      check(C.packer_wait(value(), -1));
    }

    /** Waits for the end. Returns whether it came in time. */
    public boolean await(Duration time) throws PackException {
      return check(C.packer_wait(value(), time.toMillis())) != RUNNING;
    }
  }

  /** The packs of an app: those that its manifest offers, and those that are here. */
  public static final class PackLibrary extends Handle {
    // Kept as long as the library calls them.
    private final Ask ask;
    private final Event event;

    private PackLibrary(Ask ask, Event event) {
      this.ask = ask;
      this.event = event;
    }

    /**
     * Opens the packs of an app.
     *
     * @param options JSON, as packer-library.h describes it.
     * @param event gets each event as JSON, one at a time, on any thread; it may be null.
     */
    public static PackLibrary open(String options, Keys keys, Consumer<String> event) throws PackException {
      PackLibrary library = new PackLibrary(asking(keys), event == null ? null : (context, json) -> event.accept(json));
      check(C.packer_library_open(options, library.ask, null, library.event, null, ((Handle) library).reference));
      return library;
    }

    /** Makes packs usable: fetches, checks and installs what is missing. */
    public Request ensure(String... packs) throws PackException {
      Request request = new Request();
      check(C.packer_library_ensure(value(), packs, packs.length, ((Handle) request).reference));
      return request;
    }

    /** Does the same for all packs with one of the tags, and keeps them until the request is closed. */
    public Request ensureTags(double priority, String... tags) throws PackException {
      Request request = new Request();
      check(C.packer_library_ensure_tags(value(), tags, tags.length, priority, ((Handle) request).reference));
      return request;
    }

    /** Fetches the manifest. */
    public Request refresh() throws PackException {
      Request request = new Request();
      check(C.packer_library_refresh(value(), ((Handle) request).reference));
      return request;
    }

    /** Returns a pack that was made usable. */
    public Pack pack(String name) throws PackException {
      Pack pack = new Pack();
      check(C.packer_library_pack(value(), name, ((Handle) pack).reference));
      return pack;
    }

    /** Returns a file on the disk with the content of a file. */
    public Path file(String pack, String path) throws PackException {
      PointerByReference text = new PointerByReference();
      check(C.packer_library_copy_file(value(), pack, path, text));
      return Path.of(taken(text));
    }

    /** Returns the directory of a pack that is kept unpacked. */
    public Path directory(String pack) throws PackException {
      PointerByReference text = new PointerByReference();
      check(C.packer_library_copy_directory(value(), pack, text));
      return Path.of(taken(text));
    }

    /** Returns what is offered, as JSON. */
    public String offers() throws PackException {
      PointerByReference text = new PointerByReference();
      check(C.packer_library_copy_offers(value(), text));
      return taken(text);
    }

    /** Returns the tags with their packs, as JSON. */
    public String tags() throws PackException {
      PointerByReference text = new PointerByReference();
      check(C.packer_library_copy_tags(value(), text));
      return taken(text);
    }

    /** Returns the state of a pack, as JSON. */
    public String status(String pack) throws PackException {
      PointerByReference text = new PointerByReference();
      check(C.packer_library_copy_status(value(), pack, text));
      return taken(text);
    }

    /** Answers the question of an event {@code consent}. May be called in the function for events. */
    public void answer(long question, boolean yes) throws PackException {
      check(C.packer_library_answer(value(), question, yes ? 1 : 0));
    }

    public void cancel(String pack) throws PackException {
      check(C.packer_library_cancel(value(), pack));
    }

    public void remove(String pack) throws PackException {
      check(C.packer_library_remove(value(), pack));
    }
  }

  // What packer.h and packer-library.h declare.

  private static final int RUNNING = 75;
  private static final int ROOM = 128;

  interface Ask extends Callback {
    long ask(Pointer context, String keyIds, Pointer packId, Pointer key);
  }

  interface Visit extends Callback {
    int visit(Pointer context, String path, int kind, long size);
  }

  interface Progress extends Callback {
    int step(Pointer context, long done, long total);
  }

  interface Event extends Callback {
    void tell(Pointer context, String json);
  }

  interface Functions extends Library {
    String packer_error_code();

    String packer_error_message();

    String packer_error_subject();

    String packer_error_advice();

    void packer_free(Pointer memory);

    int packer_close(long handle);

    int packer_open(String path, byte[] key, long keySize, LongByReference pack);

    int packer_open_asking(String path, Ask ask, Pointer context, LongByReference pack);

    int packer_list(long pack, Visit visit, Pointer context);

    int packer_find(long pack, String path, IntByReference kind, LongByReference size, byte[] sha256);

    int packer_verify(long pack, Progress progress, Pointer context);

    int packer_unpack(long pack, String directory, Progress progress, Pointer context);

    int packer_library_open(String options, Ask ask, Pointer askContext, Event event, Pointer eventContext, LongByReference library);

    int packer_library_ensure(long library, String[] packs, long count, LongByReference request);

    int packer_library_ensure_tags(long library, String[] tags, long count, double priority, LongByReference request);

    int packer_library_refresh(long library, LongByReference request);

    int packer_wait(long request, long milliseconds);

    int packer_library_answer(long library, long question, int yes);

    int packer_library_cancel(long library, String pack);

    int packer_library_remove(long library, String pack);

    int packer_library_copy_offers(long library, PointerByReference json);

    int packer_library_copy_tags(long library, PointerByReference json);

    int packer_library_copy_status(long library, String pack, PointerByReference json);

    int packer_library_copy_file(long library, String pack, String path, PointerByReference file);

    int packer_library_copy_directory(long library, String pack, PointerByReference directory);

    int packer_library_pack(long library, String pack, LongByReference handle);
  }

  private static final Map<String, ?> OPTIONS = Map.of(Library.OPTION_STRING_ENCODING, StandardCharsets.UTF_8.name());
  private static final Functions C = Native.load("PackCLibrary", Functions.class, OPTIONS);

  /** What is called most: JNA calls such functions in a third of the time. */
  private static final class Direct {
    static {
      Native.register(Direct.class, NativeLibrary.getInstance("PackCLibrary", OPTIONS));
    }

    static native int packer_read(long pack, String path, long offset, byte[] buffer, long size, LongByReference count);
  }

  private static int check(int status) throws PackException {
    if (status != 0 && status != RUNNING) throw new PackException(status);
    return status;
  }

  private static String taken(PointerByReference text) {
    try {
      return text.getValue().getString(0, StandardCharsets.UTF_8.name());
    } finally {
      C.packer_free(text.getValue());
    }
  }

  private static Ask asking(Keys keys) {
    return (context, ids, packId, room) -> {
      try {
        byte[] key = keys.key(ids.split(" "), packId.getByteArray(0, 32));
        if (key == null || key.length > ROOM) return 0;
        room.write(0, key, 0, key.length);
        return key.length;
      } catch (Exception error) {
        return 0;
      }
    };
  }
}
