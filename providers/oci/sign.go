package oci

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Config is the API signing key of a user and where it is used. The zero value
// has none.
type Config struct {
	Tenancy     string // OCID; also the compartment asked for
	User        string // OCID
	Fingerprint string
	PrivateKey  string // PEM; line feeds may be written \n
	Region      string // whose Compute API is asked
}

// complete reports whether nothing is missing.
func (c *Config) complete() bool {
	return c.Tenancy != "" && c.User != "" && c.Fingerprint != "" && c.PrivateKey != "" && c.Region != ""
}

// signer signs requests, version 1
// (https://docs.oracle.com/en-us/iaas/Content/API/Concepts/signingrequests.htm).
type signer struct {
	keyID string
	key   *rsa.PrivateKey
}

// signer returns the signer of a key. Errors do not show the key.
func (c *Config) signer() (*signer, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(c.PrivateKey, `\n`, "\n")))
	if block == nil {
		return nil, fmt.Errorf("%w: %s is not PEM", gputide.ErrAuth, envPrivateKey)
	}
	s := &signer{keyID: c.Tenancy + "/" + c.User + "/" + c.Fingerprint}
	var err error
	if s.key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return s, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: %s is no RSA key without a passphrase", gputide.ErrAuth, envPrivateKey)
	}
	s.key = key
	return s, nil
}

// header returns the headers that sign a GET request made at the given moment.
func (s *signer) header(address string, at time.Time) (map[string][]string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: address to sign", gputide.ErrInvalid)
	}
	date := at.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	authorization, err := s.authorization(u, date)
	if err != nil {
		return nil, err
	}
	return map[string][]string{"Date": {date}, "Authorization": {authorization}}, nil
}

// authorization signs a GET request of the given date.
func (s *signer) authorization(u *url.URL, date string) (string, error) {
	sum := sha256.Sum256([]byte("date: " + date + "\n(request-target): get " + u.RequestURI() + "\nhost: " + u.Host))
	signature, err := rsa.SignPKCS1v15(nil, s.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("%w: %s cannot sign: %w", gputide.ErrAuth, envPrivateKey, err)
	}
	return fmt.Sprintf(`Signature version="1",keyId="%s",algorithm="rsa-sha256",headers="date (request-target) host",signature="%s"`,
		s.keyID, base64.StdEncoding.EncodeToString(signature)), nil
}
