import PackFormat
import PackRemote
import Testing

@Suite("A materializer")
struct MaterializerTests {}
