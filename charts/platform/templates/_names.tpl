{{- define "platform.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 40 characters: names of pods have others behind it. */}}
{{- define "platform.fullname" -}}
{{- $name := include "platform.name" . }}
{{- $whole := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $whole .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels of an object: (dict "root" . "component" "apiserver") */}}
{{- define "platform.labels" -}}
{{ include "platform.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of pods have no versions in them: pods are replaced when something changes that they see. */}}
{{- define "platform.podLabels" -}}
{{ include "platform.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "platform.selector" -}}
app.kubernetes.io/name: {{ include "platform.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "platform.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end }}
{{- end }}
{{- end }}

{{/* The service of the API in the namespace default of what is served. */}}
{{- define "platform.apiService" -}}
{{ ternary "kubernetes" "platform" (eq .Values.vocabulary "kubernetes") }}
{{- end }}

{{/* Names under which a service of this namespace is reached, a line each: (dict "root" . "service" "x") */}}
{{- define "platform.serviceHosts" -}}
{{- $qualified := printf "%s.%s" .service .root.Release.Namespace -}}
{{ .service }}
{{ $qualified }}
{{ $qualified }}.svc
{{ $qualified }}.svc.{{ .root.Values.clusterDomain }}
{{- end }}

{{/* What one value alone cannot say. */}}
{{- define "platform.check" -}}
{{- $etcd := .Values.etcd }}
{{- if and $etcd.endpoints $etcd.trial.enabled }}
{{- fail "etcd.endpoints and etcd.trial.enabled exclude each other" }}
{{- end }}
{{- if not (or $etcd.endpoints $etcd.trial.enabled) }}
{{- fail "etcd.endpoints is needed, or etcd.trial.enabled" }}
{{- end }}
{{- if and (contains "https://" (join "," $etcd.endpoints)) (not $etcd.secretName) }}
{{- fail "etcd.secretName is needed for etcd.endpoints with https" }}
{{- end }}
{{- if and .Values.certificates.secretNames (eq .Values.certificates.mode "generated") }}
{{- fail "certificates.secretNames is for secrets that the chart does not make" }}
{{- end }}
{{- with .Values.apiserver.autoscaling }}
{{- if and .enabled (lt (int .maxReplicas) (int .minReplicas)) }}
{{- fail "apiserver.autoscaling.maxReplicas is below minReplicas" }}
{{- end }}
{{- end }}
{{- end }}
