# For those who build images with Docker or Podman. `make image` makes the same image without either.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=(devel)
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X 'main.buildVersion=${VERSION}'" -o /armature ./cmd/armature

FROM scratch
COPY --from=build /armature /armature
USER 65532:65532
ENTRYPOINT ["/armature"]
