//go:build !linux

package main

// envPeak is for TestHistoryMemory, which other systems do not have: each counts
// memory in a way of its own.
const envPeak = "GPUTIDE_TEST_PEAK"

func writePeak(string, []string) int { return exitError }
