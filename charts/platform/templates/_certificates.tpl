{{/* The secret of a set of keys and certificates: (dict "root" . "set" "apiserver") */}}
{{- define "platform.secretName" -}}
{{- $given := index .root.Values.certificates.secretNames .set }}
{{- $given | default (printf "%s-%s" (include "platform.fullname" .root) .set) }}
{{- end }}

{{/* Names and addresses of the API servers, a JSON list. Those that every installation has are in the program. */}}
{{- define "platform.serverHosts" -}}
{{- $own := include "platform.serviceHosts" (dict "root" . "service" (include "platform.fullname" .)) | splitList "\n" }}
{{- concat $own .Values.apiserver.hosts | uniq | toJson }}
{{- end }}

{{/* Those of the members of etcd; none where etcd is somebody else's. */}}
{{- define "platform.etcdHosts" -}}
{{- $hosts := list }}
{{- if .Values.etcd.trial.enabled }}
{{- range until 3 }}
{{- $hosts = append $hosts (include "platform.etcdMember" (dict "root" $ "number" .)) }}
{{- end }}
{{- end }}
{{- $hosts | toJson }}
{{- end }}

{{/* The name of a member: (dict "root" . "number" 0) */}}
{{- define "platform.etcdMember" -}}
{{- $name := printf "%s-etcd" (include "platform.fullname" .root) -}}
{{ $name }}-{{ .number }}.{{ $name }}-members.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end }}

{{- define "platform.authorities" -}}
{{- $names := list "ca" "front-proxy-ca" }}
{{- if .Values.etcd.trial.enabled }}
{{- $names = append $names "etcd-ca" }}
{{- end }}
{{- $names | toJson }}
{{- end }}

{{- define "platform.controllerUser" -}}
system:{{ ternary "kube" "platform" (eq .root.Values.vocabulary "kubernetes") }}-{{ .name }}
{{- end }}

{{/* What cert-manager is to make, as JSON: `platform certificates make` makes the same. */}}
{{- define "platform.leaves" -}}
{{- $server := ternary "kube-apiserver" "platform-apiserver" (eq .Values.vocabulary "kubernetes") }}
{{- $api := include "platform.apiService" . }}
{{- $usual := list "localhost" "127.0.0.1" "::1" $api (printf "%s.default" $api) (printf "%s.default.svc" $api) (printf "%s.default.svc.cluster.local" $api) }}
{{- $hosts := concat $usual (include "platform.serverHosts" . | fromJsonArray) | uniq }}
{{- $client := list "client auth" }}
{{- $leaves := list
  (dict "name" "apiserver" "authority" "ca" "commonName" $server "hosts" $hosts "usages" (list "server auth"))
  (dict "name" "front-proxy-client" "authority" "front-proxy-ca" "commonName" "front-proxy-client" "usages" $client)
  (dict "name" "admin" "authority" "ca" "commonName" "admin" "organization" "system:masters" "usages" $client)
  (dict "name" "monitoring" "authority" "ca" "commonName" "monitoring" "organization" "system:monitoring" "usages" $client)
}}
{{- range $name := keys .Values.controllers.processes | sortAlpha }}
{{- $user := include "platform.controllerUser" (dict "root" $ "name" $name) }}
{{- $leaves = append $leaves (dict "name" $name "authority" "ca" "commonName" $user "usages" $client) }}
{{- end }}
{{- if .Values.etcd.trial.enabled }}
{{- $members := concat (list "localhost" "127.0.0.1") (include "platform.etcdHosts" . | fromJsonArray) }}
{{- $leaves = append $leaves (dict "name" "etcd-server" "authority" "etcd-ca" "commonName" "etcd" "hosts" $members "usages" (list "server auth" "client auth")) }}
{{- $leaves = append $leaves (dict "name" "etcd-client" "authority" "etcd-ca" "commonName" $server "usages" $client) }}
{{- end }}
{{- $leaves | toJson }}
{{- end }}

{{/* Every set, as JSON. */}}
{{- define "platform.sets" -}}
{{- $names := append (include "platform.authorities" . | fromJsonArray) "service-account" }}
{{- range include "platform.leaves" . | fromJsonArray }}
{{- $names = append $names .name }}
{{- end }}
{{- $names | sortAlpha | toJson }}
{{- end }}

{{/* The pod of the job that makes them: (dict "root" . "account" "name") */}}
{{- define "platform.certificatesPod" -}}
{{- $root := .root -}}
metadata:
  labels: {{- include "platform.podLabels" (dict "root" $root "component" "certificates") | nindent 4 }}
spec:
  serviceAccountName: {{ .account }}
  restartPolicy: Never
  securityContext: {{- include "platform.podSecurity" $root | nindent 4 }}
  {{- with include "platform.pullSecrets" $root | trim }}{{ . | nindent 2 }}{{- end }}
  containers:
    - name: certificates
      image: {{ include "platform.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      securityContext: {{- include "platform.containerSecurity" $root | nindent 8 }}
      args:
        - certificates
        - make
        - --vocabulary={{ $root.Values.vocabulary }}
        - --prefix={{ include "platform.fullname" $root }}-
        - --labels=app.kubernetes.io/name={{ include "platform.name" $root }},app.kubernetes.io/instance={{ $root.Release.Name }}
        - --hosts={{ include "platform.serverHosts" $root | fromJsonArray | join "," }}
        {{- with include "platform.etcdHosts" $root | fromJsonArray }}
        - --etcd-hosts={{ join "," . }}
        {{- end }}
        - --timeout={{ $root.Values.certificates.jobSeconds }}s
      resources: {{- toYaml $root.Values.certificates.resources | nindent 8 }}
{{- end }}

{{/* Its rights: (dict "root" . "name" "x" "annotations" (dict)). No name can be said for what is yet to be made. */}}
{{- define "platform.certificatesAccess" -}}
{{- $root := .root }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ .name }}
  labels: {{- include "platform.labels" (dict "root" $root "component" "certificates") | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: true
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  labels: {{- include "platform.labels" (dict "root" $root "component" "certificates") | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
rules:
  - { apiGroups: [''], resources: [secrets], verbs: [create] }
  - apiGroups: ['']
    resources: [secrets]
    verbs: [get, update]
    resourceNames:
      {{- range include "platform.sets" $root | fromJsonArray }}
      - {{ include "platform.fullname" $root }}-{{ . }}
      {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  labels: {{- include "platform.labels" (dict "root" $root "component" "certificates") | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .name }} }
subjects:
  - { kind: ServiceAccount, name: {{ .name }}, namespace: {{ $root.Release.Namespace }} }
{{- end }}
