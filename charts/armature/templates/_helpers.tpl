{{/* The name of the release's objects, and the start of the names of its roles. */}}
{{- define "armature.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "armature" .Release.Name -}}
{{- .Release.Name | replace "." "-" | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-armature" (.Release.Name | replace "." "-" | trunc 31 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* What its pods are found by. */}}
{{- define "armature.selector" -}}
app.kubernetes.io/name: armature
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What the pods of the page are found by: not the manager's, since no Service or policy of these is about them. */}}
{{- define "armature.uiSelector" -}}
app.kubernetes.io/name: armature-ui
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "armature.uiLabels" -}}
{{ include "armature.uiSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "armature.labels" -}}
{{ include "armature.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "armature.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "armature.name" .) -}}
{{- else -}}
{{- required "serviceAccount.name is needed, since serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "armature.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The operators that are on, separated by commas, in the order of their names. */}}
{{- define "armature.operators" -}}
{{- $on := list -}}
{{- range $name, $is := .Values.operators }}{{ if $is }}{{ $on = append $on $name }}{{ end }}{{ end -}}
{{- if not $on }}{{ fail "operators: all of them are off; a manager needs at least one" }}{{ end -}}
{{- join "," $on -}}
{{- end -}}

{{/* How many milliseconds a time such as 500ms, 15s or 1m is. */}}
{{- define "armature.milliseconds" -}}
{{- $number := regexFind "^[0-9]+" . | int -}}
{{- mul $number (get (dict "ms" 1 "s" 1000 "m" 60000) (regexFind "[a-z]+$" .)) -}}
{{- end -}}

{{/* The Secret of the webhook's certificate. */}}
{{- define "armature.webhookSecret" -}}
{{- if eq .Values.webhook.certificate.source "given" -}}
{{- required "webhook.certificate.secret is needed, since webhook.certificate.source is given" .Values.webhook.certificate.secret -}}
{{- else -}}
{{- include "armature.name" . }}-webhook
{{- end -}}
{{- end -}}
