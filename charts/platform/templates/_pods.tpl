{{/* What the profile "restricted" of the pod security standards asks for, and a file system that cannot be written. */}}
{{- define "platform.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Members of a pod that say where it runs: the values of its sort. */}}
{{- define "platform.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "platform.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
How long an API server may take to stop: it serves on until proxies have noticed, then requests under way have their time,
and then there has to be some left. The image has no shell, so nothing sleeps in a preStop hook: the server does it.
*/}}
{{- define "platform.terminationSeconds" -}}
{{- with .Values.apiserver -}}
{{ add .shutdownDelaySeconds .shutdownDrainSeconds .terminationMarginSeconds }}
{{- end }}
{{- end }}

{{/* A volume of a set of keys and certificates: (dict "root" . "set" "apiserver"). What is replaced is read again. */}}
{{- define "platform.setVolume" -}}
- name: {{ .set }}
  secret: { secretName: {{ include "platform.secretName" . }}, defaultMode: 0440 }
{{- end }}

{{- define "platform.setMount" -}}
- { name: {{ . }}, mountPath: /etc/platform/{{ . }}, readOnly: true }
{{- end }}

{{/* A client configuration, and the set that it names as /etc/platform/client: (dict "root" . "set" "admin") */}}
{{- define "platform.clientVolumes" -}}
- name: client
  secret: { secretName: {{ include "platform.secretName" . }}, defaultMode: 0440 }
- name: kubeconfig
  configMap: { name: {{ include "platform.fullname" .root }}-client }
{{- end }}

{{- define "platform.clientMounts" -}}
- { name: client, mountPath: /etc/platform/client, readOnly: true }
- { name: kubeconfig, mountPath: /etc/platform/kubeconfig, readOnly: true }
{{- end }}
