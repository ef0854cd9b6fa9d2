// Compressed request bodies, and the headers of every response.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct BodyTests {
  /// Made by Python's `gzip.compress`: `{"messages":[{"role":"user","content":"What is the capital of France?"}]}`.
  private static let compressed: [UInt8] = Array(
    Data(
      base64Encoded:
        "H4sIAAAAAAACA6tWyk0tLk5MTy1WsoquVirKz0lVslIqLU4tUtJRSs7PK0nNKwEKhGcklihkFiuUZKQqJCcWZJYk5ijkpym4FSXmJafaK9XG1gIAkZcJ8kkAAAA="
    ) ?? Data())

  private func post(_ server: Server, _ bytes: [UInt8], _ coding: String) throws -> HTTPClient.Response {
    let client = try server.client()
    try client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Content-Encoding: \(coding)\r\nContent-Length: \(bytes.count)\r\n\r\n")
    try client.send(bytes)
    return try client.response()
  }

  @Test func gzip_is_expanded_and_other_codings_are_refused() async throws {
    let server = try await Shared.server
    #expect(try post(server, Self.compressed, "gzip").answer?.contains("Paris") == true)
    #expect(try post(server, Array(Shared.chat("Hello!").utf8), "identity").status == 200)
    for coding in ["br", "zstd", "deflate", "gzip, gzip"] {
      let refused = try post(server, Self.compressed, coding)
      #expect(refused.status == 415 && refused.headers["accept-encoding"] == "gzip", "\(coding): \(refused.text)")
    }
    #expect(try post(server, Array(Shared.chat("Hello!").utf8), "gzip").status == 400)
  }

  @Test func a_bomb_stops_at_the_limit() async throws {
    let server = try await Shared.start { $0.maximumBodyBytes = 60 }
    let response = try post(server, Self.compressed, "gzip")
    #expect(response.status == 413 && response.error["code"]?.stringValue == "request_too_large", "\(response.text)")
    await server.shutDown()
  }

  /// Every block kind: stored, fixed codes, dynamic codes; and every way to truncate or change them.
  @Test func members_are_checked_to_the_last_bit() throws {
    for (name, text) in Self.members {
      let bytes = Array(try #require(Data(base64Encoded: text)))
      let whole = try Gzip.expand(bytes, limit: 1 << 20)
      let expected = (0..<3000).map { UInt8($0 * $0 / 7 % 251) }
      #expect(whole == expected, "\(name)")
      #expect(throws: GzipError.tooLarge) { try Gzip.expand(bytes, limit: 2999) }
      for end in 0..<bytes.count {
        #expect(throws: GzipError.self) { try Gzip.expand(Array(bytes[..<end]), limit: 1 << 20) }
      }
      for index in 18..<bytes.count {
        var changed = bytes
        changed[index] ^= 0x10
        let result = try? Gzip.expand(changed, limit: 1 << 20)
        #expect(result == nil || result == expected, "\(name): byte \(index)")
      }
      #expect(try Gzip.expand(bytes + bytes, limit: 1 << 20) == expected + expected)
    }
  }

  private static let members = [
    (
      "stored",
      "H4sIAAAAAAAEAwG4C0f0AAAAAQIDBQcJCw4RFBgcICQpLjM5P0VLUllgaHB4gImSm6WvucPO2eTwAQ0ZJjNATlxqeIeWpbXF1eX2"
        + "DB0vQVNleIuessba7ggdMkhedIqhuM/nBBw0TWZ/mbPN5wciPVl1ka3K5wknRWOBoL/eAyNDY4SlxugPMVN2mbzgCS1RdpvA5hE3"
        + "XYSr0vonT3egyfIhS3WfyvUlUX2p1Qc0YY+96x5NfKvbEEBwodIIOmye0Ag7bqLWD0N4reIdU4m/9jJpodkWTofA+ThyrOYmYZzY"
        + "GVWRzhBNi8kMSonIDEyMzBFSk9QbXZ/hKWyv8zyAxA5TmN4pb7UBSI/XJGy0AkuU3i13wRFcp/NEkNwue8gbabcKWaj3TJzsQZLj"
        + "OYvdNIbZMYTYMYXZM4jdOI7kP5btSaH5Vq4MZb4dd9Ewi+ZGogNfux161zqY9lm4HHvbQKAFZsctj/FYuiKF6FG1HoLnUbYhh+1Y"
        + "vyuS+mfPPKUTfOZVvy6ZCXTgUb0umw166FvJPKsfjgNz41jJP7AnmRCC9W3gWc1GujSpI5kUigV882/nZNxZ0lDJSMJBuzu2NrIz"
        + "rzCtL6wvrTCuMrE1tTq6P8BGx07QV9lh5GzweQKGEJUfpTC2QchU22jwfQqTIao5w1LcbPeHGKQ1wVPgcgWTJrRI12sAkCW1S9xy"
        + "CZsyxFzvhyC0TeF7FapF23YRqETbeBWtSuOBH7lY8pExzGwNqUrmiCrHag2rTu2RNdV6H79lC6xT9ZxD5o422oMs0HokyXQfxXAc"
        + "w28cxHEex3UjzXwr1YU14JFC7p9RA7BjFsR3K9qOQ/OoXRPEejHjmlEJvHQt4ZpTDcJ8N+2oYx/Wkk8MxIE/+LZ1NO6tbS3oqWor"
        + "56lrLeuucTTzt3tABcWKUBbXnmUs7rZ+Rg/TnGUv9L6JVB/lsX1JFt6reEYU3ax7ShnktIRVJvLDlWc5DNqtgFQo98yhdksh8sif"
        + "dk0k98+ngFkyC+C6lG9KJQDXs49sSSYD3LqYd1Y1FO/Pr5BxUjMV8tS3mn1gRCgM7NG2m4FnTTQbAuTMtJyFbldAKhT55M+6pZF9"
        + "aVZDMB0L9OLRwK+ejn5uX1BBMiQWCPbp3M/Dt6uglYp/dWthWE9GPTUtJR4XEAkD+PLt6OPe2tbSz8zJxsTCwL++vby8vLy9vr/A"
        + "wsTGyczP0tba3uPo7fL4AwkQFx4lLTU9Rk9YYWt1f4qVoKu3w8/c6fYIFiQyQVBfbn6Onq/A0eL0Cx0wQ1ZpfZGlus/k+RQqQFdu"
        + "hZy0zOQCGzRNZ4GbttHsDChEYH2at9TyFTNScZCvz+8UNVZ3mLrcAyZJbI+z1wAlSm+UuuALMlmAp8/3JE12n8jyIUt2ocz3KFSA"
        + "rdoMOWeVw/ImVYS05BlKe6zdFEZ4q94WSX2x5R9Uib70L2Wc0w9GfrbuLGWe1xZQisUFQHu38zRxrusta6nnK2qp6C1tre40dbb4"
        + "P4HEDE+S1h9jqO03fMINU5rhLXS8CVGa4zF6xBNdqPNDjtord8QWY7ADUZ/uQpHgNYXVK3zNI3XHHnHEHG/DHHDFH3TJJHrQLIPa"
        + "No7mQ5z1U6wLZb8fetU1ke1Oqw1qxyqI5kqpDWzMMZHyWLkfgeNKrRV420SoEXbbRaoVe+FNtCCH71zEMpsJctxLtSWQAGvXSLQm"
        + "kwVy4FPBNaQYh/ds3FLDOaohkwp98GjbVMhBtjClH5UQhgJ58GzkYdlX0E7HRsA/ujq1NbEyrjCtL6wvrTCvM7I2tju7QcJIyVDS"
        + "Wdxk52/zfAWKFJkjqTS6Rs1Z4G31ghCZJ7A/yVjjcwOOH6s8yVvoeg2bLr1R4HQJmS6/VeZ8E6U8z2f6kiu/WO2HIbZR54IetVHo"
        + "hSK6WPGPLcdmBaBA23scuFn2mDrXeh27XwOiRuaLMNF3Hb5lDK5W+aFJ7ZY/5I443Ygz2YUx2IQx2YY03Ys545JB7JxM96hZCrdp"
        + "G8h7LtyQRPOnXBHBdy3elEsCtGwk149IAbVvKd6YUw7EgDzzr2wp4Z9dG9STUhHMjEwMyIlKDMmLTRDOkVUZ2JxhJuascjj5wIdO"
        + "FtmhaTL2v4lTHeKteEMP1qJuOwjQnmw6CNKhcEAQ26t8TR7rvY9hNAfVqX1RJfXKn3VLIfLJoHdPJ/rSq4RdNxHmwJt2US0J4LyZ"
        + "dlMxD+jGpYRjQyMD3r+ggWNFJwnnyq2RdVk9IgfnzbOZf2ZNNBwE58+4oYp0XkgyHQju2saynot4ZVNBLx0M9uXVxbWllod4alxO"
        + "QDMmGQ0B8OTZzsO5r6WbkomAeHBoYFlSS0U/OTMuKSQgHBgUEQ4LCQcFAwIBAAAAAAABAgMFBwkLDhEUGBwgJCkuMzk/RUtSWWBo"
        + "cHiAiZKbpa+5w87Z5PABDRkmM0BOXGp4h5altcXV5fYMHS9BU2V4i56yxtruCB0ySF50iqG4z+cEHDRNZn+Zs83nByI9WXWRrcrn"
        + "CSdFY4Ggv94DI0NjhKXG6A8xU3aZvOAJLVF2m8DmETddhKvS+idPd6DJ8iFLdZ/K9SVRfanVBzRhj73rHk18q9sQQHCh0gg6bJ7Q"
        + "CDtuotYPQ3it4h1Tib/2Mmmh2RZOh8D5OHKs5iZhnNgZVZHOEE2LyQxKicgMTIzMEVKT1Btdn+EpbK/zPIDEDlOY3ilvtQFIj9ck"
        + "bLQCS5TeLXfBEVyn80SQ3C57yBtptwpZqPdMnOxBkuM5i900htkxhNgxhdkziN04juQ/lu1JoflWrgxlvh130TCL5kaiA1+7HXrX"
        + "Opj2Wbgce9tAoAVmxy2P8Vi6IoXoUbUegudRtiGH7Vi/K5L6Z888pRN85lW/LpkJdOBRvS6bDXroW8k8qx+OA3PjWMk/sCeZEIL1"
        + "beBZzUa6NKkjmRSKBXzzb+dk3FnSUMlIwkG7O7Y2sjOvMK0vrC+tMK4ysTW1Oro/wEbHTtBX2WHkbPB5AoYQlR+lMLZByFTbaPB9"
        + "CpMhqjnDUtxs94cYpDXBU+ByBZMmtEjXawCQJbVL3HIJmzLEXO+HILRN4XsVqkXbdhGoRNt4Fa1K44EfuVjykTHMbA2pSuaIKsdq"
        + "DatO7ZE11Xofv2ULrFP1nEPmjjbagyzQeiTJdB/FcBzDbxzEcR7HdSPNfCvVhTXgkULun1EDsGMWxHcr2o5D86hdE8R6MeOaUQm8"
        + "dC3hmlMNwnw37ahjH9aSTwzEgT/4tnU07q1tLeipaivnqWst665xNPO3e0AFxYpQFteeZSzutn5GD9OcZS/0volUH+WxfUkW3qt4"
        + "RhTdrHtKGeS0hFUm8sOVZzkM2q2AVCj3zKF2SyHyyJ92TST3z6eAWTIL4LqUb0olANezj2xJJgPcuph3VjUU78+vkHFSMxXy1Lea"
        + "fWBEKAzs0babgWdNNBsC5My0nIVuV0AqFPnkz7qlkX1pVkMwHQv04tHAr56Ofm5fUEEyJBYI9uncz8O3q6CVin91a2FYT0Y9NS0l"
        + "HhcQCQP48u3o497a1tLPzMnGxMLAv769vLy8vL2+v8DCxMbJzM/S1tre4+jt8vgDCRAXHiUtNT1GT1hha3V/ipWgq7fDz9zp9ggW"
        + "JDJBUF9ufo6er8DR4vQLHTBDVml9kaW6z+T5FCpAV26FnLTM5AIbNE1ngZu20ewMKERgfZq31PIVM1JxkK/P7xQ1VneYutwDJkls"
        + "j7PXACVKb5S64AsyWYCnz/ckTXafyPIhS3ahzPcoVICt2gw5Z5XD8iZVhLTkGUp7rN0URnir3hZJfbHlH1SJvvQvZZzTD0Z+tu4s"
        + "ZZ7XFlCKxQVAe7fzNHGu6y1rqecraqnoLW2t7jR1tvg/gcQMT5LWH2Oo7Td8wg1TmuEtdLwJUZrjMXrEE12o80OO2it3xBZjsANR"
        + "n+5CkeA1hdUrfM0jdcceccQcb8MccMUfdMkketAsg9o2juZDnPVTrAtlvx961TWR7U6rDWrHKojmSqkNbMwxkfJYuR+B40qtFXjb"
        + "RKgRdttFqhV74U20IIfvcIMHj7gLAAA="
    ),
    (
      "fixed",
      "H4sIAAAAAAACA2NgYGBkYmZl5+TmExSRkFFQ0dQztrR39Q6KTMgoqGjonDR76fqdh8/dfPKBkVdSzdjBLyaron3a0q1Hrz79xiOr"
        + "7xicWtE9b9OxW+84ZI084kq6Fu44/5xFxsQ3rX7m5rPP2ZVsI0snrj31nFPdNblxwf57zMrOyS1Lj73gNwwum7nnAaduYNnsA88E"
        + "zWNbVl/6pe5fvuDkJ0Xv0vmnvqoG1q68ym6S2L/3tZxvzerbAg4FCy9xWOXMu8BhnbfoGr9zxdpHssGd+78ZZS68KebXfuCnRdGa"
        + "Z2qJc25Ihk48J+DbfZLHq/MEj0/PGcGgyVekY+c/1MxZ/9mm4Qhf8Ix7mvlbGT36r6vkbGHynnJPt/ygYMzyzy4T7uhVn5DO3M4V"
        + "ueK7z5w3jpMeW3bfNWm7adhyw7D1pnHHXYu+J/bT3nou/Bm2jid1n2z5RYPuZ26LmON3y1Zdt5rxLXKHTPVthwWsacd1+z9G7FJq"
        + "fRG4Va7peeA2xfa3Efu1J/1KP2+zVLjmWeh+vZmcJQ8C9+rN5q16EX3SZrV8H3Px44iT9hvUZwo0fc19EHnWbZfJSuWZIl2sNZ/z"
        + "n6fcibwUcNLjkONu621mm4zXG6zVX6O/1mCd0UbTrVa77A+4Hfe7EH4z8UnOh0qmNoGp8ksNtjmeCLmd8aGWa7LiKsvDQXdyvrdL"
        + "LDE9GPygiHWy2haP69kME1S3et8p4pxtdCTmfbvCFt+H1aKrXG+XCa5wuV0hutbrcaP8zohPEw3P5PCu9HrWoXU8i3e139uJpler"
        + "5Pencq8J/jrH+Vmf2a1mnQtVKidL5I8WyBzOlzlSKHe8VPlsjfbVVtMHE53ezQ9k3pAsdqRc+1af8+cVscJHqgwfzwrk3FOi+3BW"
        + "MO+hGvO3K5Llr03y5znSaP9jW6nJu7W5ui9WZmk/X5mt+3pdocnn7dUOrEe7AsSuz0vVebetzo3/8pxU/S/7OkPkn26s9RS7t7rC"
        + "TeTummovySdbWkLVPh2emm7Jc2ttQ4jG9zMLy7wVP52YX+ar8v388oZII+4Hu6bke6kyXN/cn+Opxnxn14zyMFOR9+fXTygMMhb9"
        + "dGX7rNoEFw2eNxe3zW5M9zWRZnpyZsuc1rxwBy2Rn0/O71o6sTYzzNlAlvvLo4sH1s/rq8uLD3A0UhHj+PbyzvnD21cvmNpVX5qd"
        + "GOHvZmuqqyonLsDJ/OPT2xeP7926dun8mZPHjhw6sH/f3j1AsHff/gOHjhw7eeb8pWu37j1+8fbTD2ZOAXE5VV1TWzf/iMTs0vqu"
        + "qQtWbz98/s7LbxxiKkaOAfF5dX3z1h+4+OgLt6yBc1hm7cSlu84/+Smi5RCe1zpny5knTNImvumNs7ddfMOj4ZJQO2v7lU+ixkGF"
        + "E9affy9iGlY+Y9cdZjXPnP7N1xlUvfKn7HrAbRTZsPz8dxXfsvkngPmtbOGZ7xohDWtv8VimTz38SS20ZcsTSa/qNXdF3CpW3xPz"
        + "rN34VD6kc98X/dQ5l/nd6ra900mdd10soOsoq0P19s8mhete62avfK6dtfKFbu7adyal237YNx7h8Z90TT55xVvzmkO8wbMe6pbs"
        + "4Qyc9diw6ohw7IrPzn23tMuPiCVvYA6c/85p4gPT1qvaNWeVS4/LFR6RyT8sU3BUvuSkStUFneZbZn3PnOd8DV7Dnbpfvuqq6cS3"
        + "fqt5s45rdTzzWsmbc8Zw4qeInfKNj73WilbcdlkhWHbbdZVo9UPfLQrt72OOGM3mLLrjvVV1AkP2dY8tapNZix4EHzRdItH+PedO"
        + "0GHLVYqTuWo/ZNwOOeG4zWCp/FSBNqbKDzlPEm+GX/A77nbAfpfVVtONRuug2W298Sazbda7HQ95nAy4FHkn5Xn+5xrWLpGZyitN"
        + "drmdjXyQ+7VJYKb6BvuTEY+LmfvkV9ucjH5RxTtbb2/ggxLOmXr7Q5/VCC+1OZ/+a5L2/oi37YrbAp83yW0NfNGqtCviY7/u8TTW"
        + "BQ63q2V2RH6bYXW9SnZ3PPMit2fdBhfLZfel8qwL+7nQ8+00+yd9Fnc7jG+2Gt5oMbzZZnK32/LxJMc3c3y+r4jk2p4pfaJa784E"
        + "l8/LYwQPluvem+LNtCVH5Xq/B+PWfM17M4L5jjTYfF6fo/lwfqz0lclBgmd6fHhOdHrxnOz2FTg3MVTyxpxEtWdriix+Hmj3E7u5"
        + "MNPo2/7OYNlHayuc+a8tyrPmuDAvx4rj0sICB4Hbq2t85V7v7U80Yb+6sjZQ9eup+aXA/HZyQbm/+q9Lq1tizQWfHZhdFqjL+WDP"
        + "zLJgQ/4Xx5a2JDsrM9/bv6Ax2VWd8/mptRNLI22V2J+f3TyzPs3XRIbl+fkdC7tK4jyMZDne3Tq2aV53RWqwo74sz7enV49uXTqt"
        + "vSIrxs/BWE2Sl/HDk5vnDu9cv3T2pM6GioKMhMggb1d7S2M9TRUFGQkRQT5uTnZWZiZGBhAYrdxGK7fRym20chtulRsAcIMHj7gL"
        + "AAA="
    ),
    (
      "dynamic",
      "H4sIAAAAAAACA+3V/U8SCAPAcZVzSmLiQi8nSKZiZvjCS6XZgFOZL6EiarLTK+eZqeTbiXCopZ1m6g1Fs6kwX9qxJER7ASxKMcEX"
        + "GoZ6qYnIMAi4leZhavbT07M9f8Wzvv/Ddx87Ozt7B4CjE9DlsDvkKPSYf1AIOgIXm5hKvXy1lFnb1M7ljzxTvF41bdu7eiHQ+KSs"
        + "QmbjXb5kaun9HggWSqDkMVt6H09rt5xhqLhfKpoHnmosP0AxpCs3up/MWZyOn6fSOaJXFmBgbG5dv1wP8IvOredPW93CKZXdLwxA"
        + "JLmSO2F2P5NdL1z8GpjM6FfZfBPpfa92A8g1giUnTE7r2AcfUrVwDYwvHVh0jqT1zjufK7637BbNFL2DUZrke6iCgVXPpMaJg7Pl"
        + "Q2ZEDu+tVzrnNZjUogIlNM2CLvypdk/teOOd3bcRRBvZiapVHqZ06YNKJPZxrSv+NLFD4h09kvHSPev+TkybLqRq1rtg9BB1cP8C"
        + "7yOh3RjRso65tRpe/za8YRV9e/0s24S7uxk/cJAxDMobhzEWwlrMxHuAS89hrJXIrj3qU2jVGr7f8coMsvXfTNnxBitZ4nPTQpb6"
        + "Nm5myoPbv+ZrovhHqs3p8pBuYIWBPBbCdWVZf1ZFCeFswG/GTBXuYWA3+ObuNQN1jijDCPy6Ic2O1Tslll911MUUVdwk4fk56enH"
        + "6JEwUehQqChsGPUIK4mU4SaIM0nzF1dzTLTt3x1ugTvh/DApYTZt7ep2zaEO3wcRilQdbb/x6F/YlxRDuWMHQhy3UmTXFiBJ1JUD"
        + "uShl1qfGY2LSRpXHg9i1SvfBmDWmhyjBWAd/lmnjhKtproIE8+2TM4WuwqRNDnaJBZfnuQxRdnnRZvZp7R+n5ln+qgr4VClUUQJV"
        + "lvnM0P3mqoOXGrAGzk9bfWTAw1xPJSNYy47eGcw+omSFG3vIwBcVyI0eiutk9ZnNwVz4cnsySFmH+yKlY7ZE15BWQWGwRVCE/DBc"
        + "htkZrcI7TjWneK705p3akl4nuv3Nywv9PN6UBn//qCbeUy9kEiHrQ1UJXiZxfTrCpujMjwBpRbVpJ/bVA5WJvrbZvkqS/77mfi0V"
        + "5WKQ3SlJCLBbedJKi0cAdLIuRgYW8kkz0laWivawvRntqbkccwL0cUHKrcsnYbwdTGoxr6H4Iv4k5MCkkfE5NQUZ0WEwl8/vFiZG"
        + "etnXiy+lEFD+ns57/+g0ilFhf2fzDXpRTmYy8TwWGeDzIxgI+GLbtBr12uVFjVo1rZyckI+PvfjW2Lh8YlI5rVJrFpe1eqN10/YF"
        + "AAT/6BOAxJ4nJmfmFNFvNHf2C0cVGt0/e86e/ihCyqXi6+zekYmFd59dYGHRGQU1HL5MYzqAnMRfLG7gidUmB28MKb+OK134CDoR"
        + "c7mmZ/SNzQOdWtY2ovkEwWYwumQ6ACKe1vpkxS4goeSOzOCCotbe1+z7kyr7Zr/9Vjmg3j+RVivSgiLyOxU2RHq92OSVUDW0DiEy"
        + "hXrP+JpH7+FpTeOfQ/N4f7sRr0u3TuX1rnimNE854qtGdzBlwx+QRQJLcKHAirwm2sLQpV9wdUpQcvsyPHdw80z1pCulZwNZ8QJI"
        + "7jGGs5RHsgd3otnaYIbSM/chgNy39RPHgG1YCq6e86PP+JQpoSUKaOkUvELlz5o/9Yf2NNsczdulDLnkyeGsJSxnM0noWjhz8rY5"
        + "QeBKU4dzbJnP4HXGBJEHcy1m0L1yLfaBR9UGSXys8VOWEsUFlusSJQFtdkUrcWJEh2O5gfIS+9fRxn2aLlUR8cC341DN9tW1tFmC"
        + "NIwP7wTfcvh9m2bKWb04nzRDnMDJIiXYR6jh/+02gn58WnruOWEyTpWySNX9ainZqXZshnT7CTAy4hzVcG33Jrg78CFOlWn8DcCG"
        + "C6NUP1tZrtyQMbKhAtgdIk83Vx/hR2nyv7YHyzM3G32lZMtNHwnZ2nBclvlvK3LmimM/fq0K+pS61xW5woI9vwS4RzS3hC0wYON5"
        + "oOGMg4H4zbs4E/vs+m30akP42/rw1VuY9ZYIYzvhI+/C/iD10GiB92xViK4tZud+lvtLBlJ/J9FBTPNfaY2zl5QE6bsoh5W1UTsj"
        + "tKCNvmzvNx2p7uo/L4BmmxJAqhYS+DUn3estLwdhHio/ezDRmOS5OlCA2pM3UWDvRMxot+V7xeec53tpkc6LA6V48JqwmuTzYaw1"
        + "B+O0JKghB+y+6qN/+03Vz0gO/LoorM8+426e4FaSkUDDi+5KSribdZpfnxvtB9DL++tyYwOBllciDp16/riTZe5J940rJAz0B4vm"
        + "6UBzxS9xKJjzlnb6cW8LM49CCIWB9t4vTUn4dxuZhVlJeDTCy9V+27T6WvFshM9tb6plll69TE1NjMVFoEOC/I9Bj0LcD7sAnRwB"
        + "DvZ2/+07bt9x+47bd9z+33D7D3CDB4+4CwAA"
    ),
  ]

  @Test func every_answer_has_an_id() async throws {
    let server = try await Shared.start { $0.apiKeys = ["secret"] }
    for path in ["/health", "/", "/v1/models", "/nothing"] {
      #expect(try server.get(path).headers["x-request-id"]?.hasPrefix("req_") == true, "\(path)")
    }
    let own = try server.get("/health", headers: ["X-Request-Id": "my-id.1"])
    #expect(own.headers["x-request-id"] == "my-id.1")
    let odd = try server.get("/health", headers: ["X-Request-Id": "a b"])
    #expect(odd.headers["x-request-id"]?.hasPrefix("req_") == true)
    let key = ["Authorization": "Bearer secret"]
    let stream = try server.post("/v1/chat/completions", Shared.chat("Hello!", ",\"stream\":true"), headers: key)
    #expect(stream.headers["x-request-id"] != nil)
    let refused = try server.get("/v1/models")
    #expect(refused.status == 401 && refused.headers["www-authenticate"] == "Bearer")
    await server.shutDown()
  }
}
