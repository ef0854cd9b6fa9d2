{{/* The image by its digest. A tag alone is enough only for images that are on the nodes already, or if that is allowed. */}}
{{- define "pagoda.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}
{{- else if and (contains "/" .repository) (not .allowTag) }}
{{- fail (printf "the image %s is in a registry, where a tag may change: set its digest, or allowTag" .repository) }}
{{- else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
