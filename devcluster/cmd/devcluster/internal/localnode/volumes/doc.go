// Package volumes prepares the volumes of a pod as directories and files.
//
// Nothing is mounted. A volume is a directory below the pod's own (emptyDir, and
// the ones with content from the API: configMap, secret, downwardAPI, projected)
// or a path of this machine (hostPath, and persistentVolumeClaim bound to a
// hostPath or local volume). Content from the API is written with the kubelet's
// own atomic writer, so an update replaces all files of a volume at once.
package volumes
