package localnode

import (
	"maps"
	"runtime"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"
)

const (
	// labelLocal marks the nodes that run pods as local processes.
	labelLocal = "devcluster.armature.dev/local"
	// kubeletVersion is what the nodes report when the program was built without
	// version information.
	kubeletVersion = "v1.37.1"

	maxPods = "250"
	// minCPU lets pods with ordinary requests be scheduled on a small machine.
	// Requests are not enforced.
	minCPU = 8
)

// hostSize is what a node has to give: the machine's own size.
func hostSize(dir string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(max(runtime.NumCPU(), minCPU)), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memoryBytes(), resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(diskBytes(dir), resource.BinarySI),
		corev1.ResourcePods:             resource.MustParse(maxPods),
	}
}

// nodeObject is the node as it registers itself.
func nodeObject(name string, labels map[string]string, size corev1.ResourceList, port int) *corev1.Node {
	all := map[string]string{
		corev1.LabelHostname:   name,
		corev1.LabelOSStable:   runtime.GOOS,
		corev1.LabelArchStable: runtime.GOARCH,
		labelLocal:             "true",
	}
	maps.Copy(all, labels)
	reported := version.Get().GitVersion
	if reported == "" || reported == "v0.0.0-master+$Format:%H$" {
		reported = kubeletVersion
	}
	kernel, machineID := kernelVersion(), machineID()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: nodeIP},
				{Type: corev1.NodeHostName, Address: name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: reported, ContainerRuntimeVersion: "local://" + reported[1:],
				OperatingSystem: runtime.GOOS, Architecture: runtime.GOARCH, OSImage: "this machine",
				KernelVersion: kernel, MachineID: machineID, SystemUUID: machineID, BootID: machineID,
			},
			Conditions: []corev1.NodeCondition{
				condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "memory pressure is not watched"),
				condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "disk pressure is not watched"),
				condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "process numbers are not watched"),
				condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "LoopbackOnly", "pods use this machine's loopback network"),
				condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "local node is ready"),
			},
		},
	}
}

func condition(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
	now := metav1.Now()
	return corev1.NodeCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: now,
	}
}
