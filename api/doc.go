// Package api answers queries over HTTP: the routes, parameters and JSON that
// the public /v1 has, served on the socket of a daemon and, when asked for, on a
// loopback address. It also holds the client of that socket.
//
// A [Question] is one route: a path, and the function that answers it from a
// [View] of the database. Server and client are made from the same Question, so
// the two cannot differ: a request travels as query parameters named like the
// flags of the command line, an answer as the JSON of its struct, and both come
// back equal to what was sent.
//
// Every answer is taken from one [View], which is one consistent moment of the
// database.
package api
