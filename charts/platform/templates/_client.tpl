{{- define "platform.kubeconfig" -}}
apiVersion: v1
kind: Config
clusters:
  - name: platform
    cluster:
      server: https://{{ include "platform.fullname" . }}.{{ .Release.Namespace }}.svc:{{ .Values.apiserver.service.port }}
      certificate-authority: /etc/platform/client/ca.crt
users:
  - name: client
    user:
      client-certificate: /etc/platform/client/tls.crt
      client-key: /etc/platform/client/tls.key
contexts:
  - name: platform
    context: { cluster: platform, user: client }
current-context: platform
{{- end }}
