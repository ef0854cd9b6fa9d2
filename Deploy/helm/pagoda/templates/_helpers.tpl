{{/* The image by its digest, or else by its tag. */}}
{{- define "pagoda.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
