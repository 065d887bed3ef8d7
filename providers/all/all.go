// Package all names the providers of this build. Adding one is one line here.
package all

import (
	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/alibaba"
	"github.com/gputide/gputide/providers/aws"
	"github.com/gputide/gputide/providers/azure"
	"github.com/gputide/gputide/providers/ecb"
	"github.com/gputide/gputide/providers/exoscale"
	"github.com/gputide/gputide/providers/gcp"
	"github.com/gputide/gputide/providers/huawei"
	"github.com/gputide/gputide/providers/ibm"
	"github.com/gputide/gputide/providers/lambda"
	"github.com/gputide/gputide/providers/oci"
	"github.com/gputide/gputide/providers/ovh"
	"github.com/gputide/gputide/providers/runpod"
	"github.com/gputide/gputide/providers/scaleway"
	"github.com/gputide/gputide/providers/seeweb"
	"github.com/gputide/gputide/providers/tencent"
	"github.com/gputide/gputide/providers/ucloud"
	"github.com/gputide/gputide/providers/volcengine"
)

// Providers returns every provider on f, sorted by name. secret returns the
// credential of an environment variable that the provider's Info names, empty
// when there is none. regions limits providers that have a list per region to
// these region codes; empty is every region.
func Providers(f *fetch.Fetcher, secret func(env string) string, regions []string) []gputide.Provider {
	return []gputide.Provider{
		alibaba.New(f, alibabaConfig(secret, regions)),
		aws.New(f, awsConfig(secret, regions)),
		azure.New(f, azureConfig(secret, regions)),
		ecb.New(f),
		exoscale.New(f),
		gcp.New(f, gcpConfig(secret)),
		huawei.New(f, huaweiConfig(secret, regions)),
		ibm.New(f, secret("GPUTIDE_IBM_API_KEY")),
		lambda.New(f, secret("GPUTIDE_LAMBDA_API_KEY")),
		oci.New(f, ociConfig(secret)),
		ovh.New(f),
		runpod.New(f),
		scaleway.New(f, regions),
		seeweb.New(f),
		tencent.New(f, tencentConfig(secret, regions)),
		ucloud.New(f, ucloudConfig(secret, regions)),
		volcengine.New(f),
	}
}

func awsConfig(secret func(env string) string, regions []string) aws.Config {
	return aws.Config{
		AccessKeyID:     secret("GPUTIDE_AWS_ACCESS_KEY_ID"),
		SecretAccessKey: secret("GPUTIDE_AWS_SECRET_ACCESS_KEY"),
		SessionToken:    secret("GPUTIDE_AWS_SESSION_TOKEN"),
		Regions:         regions,
	}
}

func ociConfig(secret func(env string) string) oci.Config {
	return oci.Config{
		Tenancy:     secret("GPUTIDE_OCI_TENANCY"),
		User:        secret("GPUTIDE_OCI_USER"),
		Fingerprint: secret("GPUTIDE_OCI_FINGERPRINT"),
		PrivateKey:  secret("GPUTIDE_OCI_PRIVATE_KEY"),
		Region:      secret("GPUTIDE_OCI_REGION"),
	}
}

func azureConfig(secret func(env string) string, regions []string) azure.Config {
	return azure.Config{
		TenantID:       secret("GPUTIDE_AZURE_TENANT_ID"),
		ClientID:       secret("GPUTIDE_AZURE_CLIENT_ID"),
		ClientSecret:   secret("GPUTIDE_AZURE_CLIENT_SECRET"),
		SubscriptionID: secret("GPUTIDE_AZURE_SUBSCRIPTION_ID"),
		Regions:        regions,
	}
}

func gcpConfig(secret func(env string) string) gcp.Config {
	return gcp.Config{
		APIKey:      secret("GPUTIDE_GCP_API_KEY"),
		ClientEmail: secret("GPUTIDE_GCP_CLIENT_EMAIL"),
		PrivateKey:  secret("GPUTIDE_GCP_PRIVATE_KEY"),
		Project:     secret("GPUTIDE_GCP_PROJECT"),
	}
}

func huaweiConfig(secret func(env string) string, regions []string) huawei.Config {
	return huawei.Config{
		AccessKey: secret("GPUTIDE_HUAWEI_ACCESS_KEY"), SecretKey: secret("GPUTIDE_HUAWEI_SECRET_KEY"),
		ProjectID: secret("GPUTIDE_HUAWEI_PROJECT_ID"), Region: secret("GPUTIDE_HUAWEI_REGION"),
		Regions: regions,
	}
}

func tencentConfig(secret func(env string) string, regions []string) tencent.Config {
	return tencent.Config{
		SecretID: secret("GPUTIDE_TENCENT_SECRET_ID"), SecretKey: secret("GPUTIDE_TENCENT_SECRET_KEY"),
		IntlSecretID: secret("GPUTIDE_TENCENT_INTL_SECRET_ID"), IntlSecretKey: secret("GPUTIDE_TENCENT_INTL_SECRET_KEY"),
		Regions: regions,
	}
}

func alibabaConfig(secret func(env string) string, regions []string) alibaba.Config {
	return alibaba.Config{
		AccessKeyID:     secret("GPUTIDE_ALIBABA_ACCESS_KEY_ID"),
		AccessKeySecret: secret("GPUTIDE_ALIBABA_ACCESS_KEY_SECRET"),
		Regions:         regions,
	}
}

func ucloudConfig(secret func(env string) string, regions []string) ucloud.Config {
	return ucloud.Config{
		PublicKey: secret("GPUTIDE_UCLOUD_PUBLIC_KEY"), PrivateKey: secret("GPUTIDE_UCLOUD_PRIVATE_KEY"), Regions: regions,
	}
}
