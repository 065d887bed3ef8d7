package normalize

import "slices"

// This file holds the rules for names that mislead. Each stands for a trap seen
// in a source; the table of the catalogue cannot hold them because they say how
// to choose between its rows.

// collisions are short names that cards of several generations answer to. The
// memory decides; without it the name says nothing, and a size that two of the
// cards share (48 GB for "RTX 6000": RTX A6000 or 6000 Ada) decides nothing.
func collisions() map[string][]string {
	return map[string][]string{
		"rtx6000": {"quadro-rtx-6000-24gb", "rtx-6000-ada-48gb", "rtx-a6000-48gb", "rtx-pro-6000-server-96gb"},
		"rtx5000": {"quadro-rtx-5000-16gb", "rtx-a5000-24gb", "rtx-5000-ada-32gb", "rtx-pro-5000-48gb", "rtx-pro-5000-72gb"},
		"rtx4500": {"rtx-a4500-20gb", "rtx-4500-ada-24gb", "rtx-pro-4500-32gb"},
		"rtx4000": {"quadro-rtx-4000-8gb", "rtx-a4000-16gb", "rtx-4000-ada-20gb", "rtx-pro-4000-24gb"},
		"rtx2000": {"rtx-a2000-6gb", "rtx-a2000-12gb", "rtx-2000-ada-16gb", "rtx-pro-2000-16gb"},
	}
}

// needsMemory reports whether a name is sold in several sizes under one short
// name so widely that no size may be assumed.
func needsMemory(core string) bool {
	switch core {
	case "a100", "v100", "rtx4060ti", "rtx6000", "rtx5000", "rtx4500", "rtx4000", "rtx2000":
		return true
	}
	return false
}

// defaultForm is the form a source means that names a model sold in several
// forms and says none. gb is the size, 0 where that is open too.
func defaultForm(core string, gb float64) string {
	switch core {
	case "h100":
		if gb == 94 {
			return "nvl"
		}
		return "sxm"
	case "a100", "a800", "h800", "h200":
		return "sxm"
	case "v100":
		return "sxm2"
	case "p100", "c500", "mxc500", "metaxc500", "曦云c500":
		return "pcie"
	case "rtxpro6000":
		return "server"
	}
	return ""
}

// sellsForm reports whether a provider is known to sell a model in its default
// form under the bare name, so that reading it so is no guess. Sources: the
// instance type pages of EC2, Compute Engine and the NC H100 v5 series, the
// shape list of OCI.
func sellsForm(provider, core string, gb float64) bool {
	switch provider {
	case "aws", "gcp":
		return true
	case "azure":
		return core == "h100" && gb == 94
	case "oci":
		return core == "rtxpro6000"
	}
	return false
}

// nativeSize is the size a provider means by a bare name: Compute Engine
// calls the 80 GB card nvidia-a100-80gb and every other one by its age.
func nativeSize(provider, core string) float64 {
	if provider != "gcp" {
		return 0
	}
	switch core {
	case "a100":
		return 40
	case "v100", "p100":
		return 16
	}
	return 0
}

// isChinese reports whether a provider sells in China, where the short names of
// domestic parts are common words.
func isChinese(provider string) bool {
	switch provider {
	case "alibaba", "tencent", "huawei", "volcengine", "baidu", "ucloud", "jdcloud", "ctyun", "ecloud", "kingsoft",
		"qingcloud", "autodl", "ppio":
		return true
	}
	return false
}

// domesticVendors make parts that are sold in China only.
func domesticVendors() []string {
	return []string{
		"Huawei", "Cambricon", "Kunlunxin", "Hygon", "Enflame", "Iluvatar CoreX", "Biren", "Moore Threads", "MetaX",
		"T-Head", "Alibaba",
	}
}

// isShortName reports whether a core is so short that it may mean another part
// outside its home market: k100, s60, br104, 104p.
func isShortName(core string) bool {
	letters := 0
	for _, r := range core {
		if r > 'z' || r == '-' {
			return false
		}
		if r >= 'a' {
			letters++
		}
	}
	return letters <= 3 && len(core) <= 6
}

// vendorOf maps the vendor a source states to the vendors of the catalogue;
// nil for a word that names none.
func vendorOf(s string) []string {
	word := fold(s)
	if word == "" {
		return nil
	}
	for _, v := range [...]struct {
		words   []string
		vendors []string
	}{
		{[]string{"nvidia", "nvidiacorporation"}, []string{"NVIDIA"}},
		{[]string{"amd", "amdinc", "advancedmicrodevices"}, []string{"AMD", "AMD/Xilinx"}},
		{[]string{"xilinx", "amdxilinx"}, []string{"AMD/Xilinx"}},
		{[]string{"intel", "habana", "habanalabs"}, []string{"Intel"}},
		{[]string{"google"}, []string{"Google"}},
		{[]string{"aws", "amazon", "annapurnalabs"}, []string{"AWS"}},
		{[]string{"qualcomm"}, []string{"Qualcomm"}},
		{[]string{"tenstorrent"}, []string{"Tenstorrent"}},
		{[]string{"huawei", "ascend"}, []string{"Huawei"}},
		{[]string{"cambricon"}, []string{"Cambricon"}},
		{[]string{"kunlun", "kunlunxin"}, []string{"Kunlunxin"}},
		{[]string{"hygon"}, []string{"Hygon"}},
		{[]string{"enflame"}, []string{"Enflame"}},
		{[]string{"iluvatar", "iluvatarcorex"}, []string{"Iluvatar CoreX"}},
		{[]string{"biren"}, []string{"Biren"}},
		{[]string{"moorethreads"}, []string{"Moore Threads"}},
		{[]string{"metax"}, []string{"MetaX"}},
		{[]string{"thead"}, []string{"T-Head"}},
	} {
		if slices.Contains(v.words, word) {
			return v.vendors
		}
	}
	return nil
}

// vendorName is a name that one vendor's part has only in that vendor's
// company: the P100 of Tenstorrent is not the Tesla P100.
func vendorName(vendors []string, core string) string {
	if len(vendors) == 1 && vendors[0] == "Tenstorrent" && core == "p100" {
		return "tt-p100a-28gb"
	}
	return ""
}
