package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"runtime/debug"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials lists what a binary is made of: the modules that the Go linker recorded in it, and Go itself.
func billOfMaterials(r request, binary []byte) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("read the modules of the binary: %w", err)
	}
	main := component(cdx.ComponentTypeApplication, info.Main.Path, r.version)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	components := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", info.GoVersion)}
	for _, m := range info.Deps {
		components = append(components, moduleOf(m))
	}
	bom.Components = &components

	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON)
	if err := encoder.SetPretty(true).Encode(bom); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// moduleOf describes a module, or the one that replaces it.
func moduleOf(m *debug.Module) cdx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	return component(cdx.ComponentTypeLibrary, m.Path, m.Version)
}

func component(kind cdx.ComponentType, name, version string) cdx.Component {
	purl := fmt.Sprintf("pkg:golang/%s@%s?type=module", name, url.QueryEscape(version))
	return cdx.Component{Type: kind, BOMRef: purl, Name: name, Version: version, PackageURL: purl}
}
