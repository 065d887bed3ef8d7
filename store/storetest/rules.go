package storetest

import "testing"

func runRules(t *testing.T, open func(t *testing.T) Store)   {}
func runRuns(t *testing.T, open func(t *testing.T) Store)    {}
func runImports(t *testing.T, open func(t *testing.T) Store) {}
func runFacts(t *testing.T, open func(t *testing.T) Store)   {}
