{{- define "forecourt.name" -}}{{ printf "%s-forecourt" .Release.Name | trunc 52 | trimSuffix "-" }}{{- end }}
{{- define "forecourt.selector" -}}
app.kubernetes.io/name: forecourt
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "forecourt.labels" -}}
{{ include "forecourt.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
