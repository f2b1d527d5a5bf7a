import Testing

@Suite("Times of a manifest")
struct ManifestTimeTests {
  @Test(
    "a time is read and written in one form",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2027-01-01T00:00:00Z", 1_798_761_600),
      ("1969-12-31T23:59:59Z", -1), ("0000-01-01T00:00:00Z", -62_167_219_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] as [(String, Int64)])
  func roundTrip(text: String, seconds: Int64) throws {
    let time = try #require(ManifestTime(text))
    #expect(time.secondsSince1970 == seconds)
    #expect(ManifestTime(secondsSince1970: seconds)?.description == text)
  }

  @Test(
    "any other text is refused",
    arguments: [
      "", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01T00:00:00+00:00", "2027-01-01t00:00:00Z", "2027-13-01T00:00:00Z",
      "2027-00-01T00:00:00Z", "2027-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2027-04-31T00:00:00Z", "2027-01-00T00:00:00Z",
      "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z", "2027-01-01T00:00:60Z", "+027-01-01T00:00:00Z", "2027-01-01T00:00:00.0Z",
    ])
  func refused(text: String) {
    #expect(ManifestTime(text) == nil)
  }

  @Test("years with more than four digits are refused")
  func years() {
    #expect(ManifestTime(secondsSince1970: 253_402_300_800) == nil)
    #expect(ManifestTime(secondsSince1970: -62_167_219_201) == nil)
  }
}
