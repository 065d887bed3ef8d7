// Package awstest helps tests that feed the aws provider: it writes the XML
// that EC2 answers from the values the AWS SDK holds.
package awstest
