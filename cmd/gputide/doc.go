// Command gputide records what GPU clouds charge and what they sell, keeps
// every change, and answers questions about it. This package wires the other
// packages together: it reads flags, the environment and the clock, and writes
// answers. One file holds one verb.
package main
