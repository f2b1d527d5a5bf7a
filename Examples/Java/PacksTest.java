import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tests Packs.java. Tests/CInterface/run.py runs it, and puts the packs into DIRECTORY.
 *
 * <pre>
 * PacksTest read DIRECTORY                     every file, and every fault
 * PacksTest fetch DIRECTORY TRUSTED ADDRESS    makes the packs of the release usable; may be killed
 * PacksTest speed DIRECTORY
 * </pre>
 */
final class PacksTest {
  private interface Call {
    void run() throws Exception;
  }

  private static Packs.PackException fails(int status, Call call) throws Exception {
    try {
      call.run();
    } catch (Packs.PackException error) {
      check(error.status == status, error.status + " in the place of " + status + ": " + error.getMessage());
      return error;
    }
    throw new AssertionError("status " + status + " does not come");
  }

  private static void check(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  public static void main(String[] arguments) throws Exception {
    Path place = Path.of(arguments[1]);
    byte[] key = Files.readAllBytes(place.resolve("key"));
    switch (arguments[0]) {
      case "read" -> read(place, key);
      case "fetch" -> fetch(place, key, arguments[2], arguments[3]);
      default -> speed(place, key);
    }
  }

  private static void read(Path place, byte[] key) throws Exception {
    int count = 0;
    Path packed = place.resolve("game.pack");
    Packs.Pack closed;
    try (Packs.Pack pack = Packs.Pack.open(packed, key)) {
      closed = pack;
      for (Packs.Entry entry : pack.entries()) {
        if (!entry.isFile()) continue;
        byte[] source = Files.readAllBytes(place.resolve("game").resolve(entry.path()));
        check(Arrays.equals(source, pack.read(entry.path())), entry.path());
        check(Arrays.equals(Arrays.copyOfRange(source, 5, 12), pack.read(entry.path(), 5, 7)), entry.path());
        count++;
      }
      AtomicLong last = new AtomicLong();
      pack.verify((done, total) -> last.getAndSet(done) <= done && done <= total);
      check(last.get() > 0, "no progress is told");
      fails(130, () -> pack.verify((done, total) -> false));
      pack.unpack(place.resolve("java"), null);
      check(Files.mismatch(place.resolve("java/index.html"), place.resolve("game/index.html")) < 0, "index.html");
      check(fails(66, () -> pack.read("none")).code.equals("no-such-entry"), "code");
      fails(64, () -> pack.read("index.html", 1_000_000_000, 1));
    }
    fails(64, () -> closed.read("index.html", 0, 1));
    Packs.PackException error = fails(11, () -> Packs.Pack.open(packed, Files.readAllBytes(place.resolve("other"))));
    check(error.code.equals("wrong-key") && error.subject.endsWith("game.pack") && error.advice.contains("key"), error.getMessage());
    fails(10, () -> Packs.Pack.open(packed, new byte[0]));
    fails(10, () -> Packs.Pack.open(packed, (ids, packId) -> null));
    fails(10, () -> Packs.Pack.open(packed, (ids, packId) -> Files.readAllBytes(place.resolve("none"))));
    fails(13, () -> Packs.Pack.open(place.resolve("truncated.pack"), key));
    fails(12, () -> Packs.Pack.open(place.resolve("header.pack"), key));
    fails(66, () -> Packs.Pack.open(place.resolve("none.pack"), key));
    fails(65, () -> Packs.Pack.open(place.resolve("game/index.html"), key));
    try (Packs.Pack pack = Packs.Pack.open(place.resolve("damaged.pack"), (ids, packId) -> ids[0].length() == 16 && packId.length == 32 ? key : null)) {
      check(fails(12, () -> pack.verify(null)).subject.endsWith("damaged.pack"), "subject");
    }
    System.out.println("Java: " + count + " files are equal, and faults are told apart");
  }

  private static void fetch(Path place, byte[] key, String trusted, String address) throws Exception {
    String options = "{\"directory\":\"%s\",\"manifest\":\"%s\",\"trusting\":[\"%s\"]}".formatted(place.resolve("fetched"), address, trusted);
    try (Packs.PackLibrary library =
        Packs.PackLibrary.open(options, (ids, packId) -> key, event -> {
          if (event.contains("\"received\"")) System.out.println(event);
        })) {
      try (Packs.Request request = library.ensure("game", "words")) {
        check(!request.await(Duration.ZERO), "it cannot be done already");
        request.await();
      }
      try (Packs.Pack pack = library.pack("game")) {
        check(Arrays.equals(pack.read("index.html"), Files.readAllBytes(place.resolve("game/index.html"))), "index.html");
      }
      check(Files.exists(library.directory("words").resolve("hello.txt")), "hello.txt");
      check(library.status("game").equals("{\"status\":\"ready\",\"version\":1}"), library.status("game"));
      check(library.offers().contains("\"id\":\"game\""), library.offers());
      fails(66, () -> library.ensure("none").await());
      try (Packs.Request request = library.ensureTags(0.5, "small")) {
        request.await();
      }
      library.remove("game");
      check(library.status("game").contains("absent"), library.status("game"));
    }
    System.out.println("Java: fetched");
  }

  private static void speed(Path place, byte[] key) throws Exception {
    try (Packs.Pack pack = Packs.Pack.open(place.resolve("game.pack"), key)) {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 60; round++) {
        long start = System.nanoTime();
        for (int number = 0; number < 5000; number++) pack.read("assets/sounds/won.wav", 0, 4096);
        least = Math.min(least, (System.nanoTime() - start) / 5000);
      }
      System.out.println("Java: " + least + " ns for a read of 4 KiB");
    }
  }
}
