// Package fetch is the only HTTP client of gputide.
//
// One [Fetcher] serves a process; [Fetcher.Client] binds it to a provider, whose
// [gputide.Info] names the hosts that may be asked, how fast, and how large and
// how slow an answer may be. Every request, including those of an SDK through
// [Client.HTTPClient] and of HTML pages through [Client.Page], passes the same
// steps:
//
//	host allow-list → per-host limit → retry → redirects → body
//
// A body streams. While it is read it is decoded (gzip, zstd), counted against
// the cap of its source, checked against its announced length, copied to the
// [Archive] and, at its end, reported to the recorder of its context. A body
// that was cut, is too large or stalls is an error of the reader, never a
// shorter body. Once a body was handed out its request is not repeated.
//
// Failures are [*gputide.FetchError] and [*gputide.DriftError]; test them with
// errors.Is against the sentinels of the root package. A cancelled context is
// returned as context.Canceled.
//
// The same client replays: with [Options.Fixtures] nothing is dialled, and each
// request is answered from a manifest, either a directory ([OpenFixtures]) or a
// past run ([Archive.Replay]). Retries then happen without waiting.
//
// Credentials never appear in an error, a log line, a recorded body's address or
// the archive: see [Redactor].
package fetch
