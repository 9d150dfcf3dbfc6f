package incident

import (
	"strings"
	"testing"

	v1alpha1 "github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/minicluster"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The pass over MiniCluster.api.practice.com default/flux at 2026-01-01 00:00:00 +0000 UTC.
func TestMiniClusterApiPracticeComDefaultFlux(t *testing.T) {
	list, err := record.Read(strings.NewReader(recordedminicluster))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], minicluster.Operator(nil, minicluster.Planner{NewCertificate: minicluster.NewCertificate}), func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		_ = clientgoscheme.AddToScheme(scheme)
		_ = v1alpha1.AddToScheme(scheme)
		return scheme
	}()
	owner, view, err := record.Input(operator, scheme, pass)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := buildertest.PlanFor(operator, owner, view)
	if err != nil {
		t.Fatal(err)
	}
	// The plan of the incident. If it is the mistake, correct it below: the test then fails until the operator is corrected.
	replayed, err := record.Compare(scheme, pass, view, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range replayed.Differences {
		t.Errorf("%s is %v in the record, and now %v", d.Path, d.Recorded, d.Replayed)
	}
}

const recordedminicluster = `{
  "apiVersion": "record.armature.dev/v1",
  "kind": "PassList",
  "items": [
    {
      "program": {
        "path": "github.com/armature-dev/armature/cmd/armature/internal/recordcmd.test",
        "version": "(devel)",
        "goVersion": "go1.26.8",
        "digest": "sha256:2bdebd21a4c44979cc17a4ee6135e35b63a43b3f2f4c3b338fee715421431873",
        "settings": {
          "queueManager": "{\"Name\":\"system/armature-manager\",\"Namespaces\":null,\"Selector\":\"\",\"Patience\":0}"
        }
      },
      "operator": "minicluster",
      "owner": {
        "apiVersion": "api.practice.com/v1alpha1",
        "kind": "MiniCluster",
        "metadata": {
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "generation": 1,
          "name": "flux",
          "namespace": "default",
          "resourceVersion": "1001",
          "uid": "00000000-0000-4000-8000-000000000001"
        },
        "spec": {
          "containers": [
            {
              "command": "lmp",
              "image": "lammps"
            }
          ],
          "size": 2,
          "tasks": 1
        }
      },
      "view": {
        "time": "2026-01-01T00:00:00Z",
        "external": {
          "goType": "refusal.known",
          "value": null
        }
      },
      "plan": {
        "children": [
          {
            "object": {
              "apiVersion": "v1",
              "data": {
                "command": "lmp",
                "pod.sh": "# What start.sh and side.sh share. It expects mc_scripts, mc_base, mc_software and the settings.\n\nmc_child='' mc_stopping=''\n\nmc_say() {\n\t[ -n \"$mc_quiet\" ] || printf 'minicluster: %s\\n' \"$*\" >&2\n}\n\n# mc_report says why this container is about to end, where Kubernetes finds it: it gets into the status.\nmc_report() {\n\tprintf 'minicluster: %s\\n' \"$*\" >&2\n\t(printf '%s\\n' \"$*\" >>\"${TERMINATION_LOG:-/dev/termination-log}\") 2>/dev/null\n}\n\nmc_stop() {\n\tmc_stopping=1\n\t[ -z \"$mc_child\" ] || kill -TERM \"$mc_child\" 2>/dev/null\n}\ntrap mc_stop TERM INT\n\n# mc_run runs a command beside this shell, so that it can be stopped, and returns its exit code.\nmc_run() {\n\t\"$@\" &\n\tmc_child=$!\n\t[ -z \"$mc_stopping\" ] || kill -TERM \"$mc_child\" 2>/dev/null\n\twhile :; do\n\t\twait \"$mc_child\"\n\t\tmc_code=$?\n\t\tkill -0 \"$mc_child\" 2>/dev/null || break # else a signal has cut the wait short\n\tdone\n\tmc_child=''\n\treturn \"$mc_code\"\n}\n\n# mc_find_flux puts the Flux that the init container brought on the PATH, behind what the image has. It fails where Flux\n# wouldn't find its libraries.\nmc_find_flux() {\n\tif [ -n \"$mc_view\" ]; then\n\t\tPATH=$PATH:$mc_base/view/bin\n\t\tfor mc_site in \"$mc_base\"/view/lib/python3*/site-packages; do\n\t\t\t[ -n \"$mc_python_path\" ] || mc_python_path=$mc_site\n\t\tdone\n\t\t# Flux looks for its libraries in /opt/software, where they were built. For a user other than root they are mounted\n\t\t# there. An image's own directory of this name is completed, and stays.\n\t\tif [ -d \"$mc_base/software\" ] && ! [ \"$mc_software\" -ef \"$mc_base/software\" ]; then\n\t\t\tif [ -e \"$mc_software\" ]; then\n\t\t\t\tcp -R \"$mc_base/software/.\" \"$mc_software/\"\n\t\t\telse\n\t\t\t\tmkdir -p \"${mc_software%/*}\" && ln -s \"$mc_base/software\" \"$mc_software\"\n\t\t\tfi || return\n\t\tfi\n\tfi\n\t[ -z \"$mc_python_path\" ] || PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$mc_python_path\n\texport PATH\n\t[ -z \"$mc_python_path\" ] || export PYTHONPATH\n}\n",
                "ready.sh": "#!/bin/sh\n# Says by its exit code whether the broker of this pod is ready: the leader's, once the quorum has joined and the work\n# has begun; a worker's, once it serves its socket. Arguments: the directories of the scripts and of Flux, and the\n# private one.\nmc_scripts=$1 mc_base=$2 mc_private=$3\n. \"$mc_scripts/settings.sh\"\nif [ \"$JOB_COMPLETION_INDEX\" != 0 ]; then\n\t[ -S \"$(cat \"$mc_private/rundir\")/local\" ]\nelif [ -n \"$mc_interactive\" ]; then\n\t. \"$mc_base/flux-view.sh\" && flux uptime | grep -q ' run '\nelse\n\t[ -e \"$mc_private/ready\" ]\nfi\n",
                "run.sh": "# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.\nmc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4\n: >\"$mc_private/ready\" # the quorum has joined\nmc_tell() {\n\tprintf 'minicluster: %s\\n' \"$*\" >&2\n\t(printf '%s\\n' \"$*\" >>\"${TERMINATION_LOG:-/dev/termination-log}\") 2>/dev/null\n}\nmc_command=$(cat \"$mc_scripts/command\" && printf .)\nmc_command=${mc_command%.}\nflux submit -n 1 --quiet --watch --job-name=flux \"$mc_shell\" -c \"$mc_command\"\nmc_result=$?\nif [ \"$mc_result\" != 0 ] && mc_job=$(flux jobs -a --no-header --format='{exception.type}: {exception.note}' 2>/dev/null); then\n\tcase $mc_job in\n\t'') mc_tell \"Flux accepted no job: \"'flux submit -n 1 --quiet --watch --job-name=flux'\" was refused, and the log says why; it has $(flux resource list --no-header --states=all --format='{nnodes} nodes, {ncores} cores')\" ;;\n\t[!:]*) mc_tell \"Flux's job failed: $mc_job\" ;;\n\tesac\nfi\n(exit \"$mc_result\")\n",
                "settings.sh": "# What the scripts need to know of this MiniCluster.\nmc_name='flux'\nmc_disabled=''\nmc_interactive=''\nmc_view='1'\nmc_python_path=''\nmc_hosts='flux-[0-1]'\nmc_gpus=''\nmc_quorum='2'\nmc_topology='-Stbon.topo=kary:256'\nmc_connect_timeout='5s'\nmc_wrap=''\nmc_log_level='6'\nmc_zeromq=''\nmc_quiet=''\nmc_strict=''\nmc_time=''\nmc_complete_workers=''\n",
                "start.sh": "#!/bin/sh\n# Starts a pod of a MiniCluster: the leader, rank 0, or a worker. Arguments: the directories of the scripts, of the\n# broker's configuration, of the certificate, of Flux, and a private one in memory; the archive; where a batch's output\n# goes; the directories of the broker's socket, which sidecars see, and where Flux looks for its libraries. They are\n# arguments so that nothing below names a path. Pods of an earlier version have only the first seven.\n#\n# Exit codes: the leader's is that of the work. 143 says that the pod was told to stop, 75 that a worker can't go on;\n# the Job knows by these two that the work hasn't failed.\n\nif [ -z \"${BASH_VERSION:-}\" ] && command -v bash >/dev/null 2>&1; then\n\texec bash \"$0\" \"$@\" # what people write in their commands is often bash\nfi\nmc_shell=sh\n[ -z \"${BASH_VERSION:-}\" ] || mc_shell=bash\n\nmc_scripts=$1 mc_config=$2 mc_secret=$3 mc_base=$4 mc_private=$5 mc_archive=$6 mc_logs=$7\nmc_run_dir=${8:-$5/run} mc_software=${9:-/opt/software}\n. \"$mc_scripts/settings.sh\"\n. \"$mc_scripts/pod.sh\"\nmc_rank=${JOB_COMPLETION_INDEX:?is not set: this script runs in the pods of an Indexed Job}\nmc_now=''\n\nmc_die() {\n\tmc_report \"$*\"\n\texit 1\n}\n\n# mc_left says which piece of the user's ended this shell, if one did. A worker never ends with a code that fails the Job.\nmc_left() {\n\tmc_code=$?\n\ttrap - EXIT\n\t[ -z \"$mc_now\" ] || mc_report \"commands.$mc_now ended rank $mc_rank with exit code $mc_code${mc_strict:+ (logging.strict is set)}\"\n\t[ \"$mc_rank\" = 0 ] || case $mc_code in 0 | 143) ;; *) exit 75 ;; esac\n\texit \"$mc_code\"\n}\ntrap mc_left EXIT\n\n# mc_piece runs one of the user's pieces of script, by its file and its field, in this shell, so that what it exports is\n# seen by what follows.\nmc_piece() {\n\t[ -s \"$mc_scripts/$1\" ] || return 0\n\tmc_now=$2\n\t[ -z \"$mc_strict\" ] || set -e\n\tif [ -n \"$mc_quiet\" ]; then\n\t\t. \"$mc_scripts/$1\" >/dev/null 2>&1\n\telse\n\t\t. \"$mc_scripts/$1\"\n\tfi\n\tset +e\n\tmc_now=''\n\t[ -z \"$mc_stopping\" ] || exit 143\n}\n\n# mc_finish ends the pod with an exit code, whatever post does: it runs in a shell of its own. Its output is that of the\n# work (post: cat results), so it isn't subject to logging.quiet.\nmc_finish() {\n\tmc_result=$1\n\t[ ! -s \"$mc_scripts/post\" ] || (. \"$mc_scripts/post\")\n\t[ -z \"$mc_stopping\" ] || mc_result=143\n\texit \"$mc_result\"\n}\n\n# mc_timed runs a command and prints how long it took, if that is wanted.\nmc_timed() {\n\tmc_label=$1\n\tshift\n\tmc_began=$(date +%s)\n\tmc_run \"$@\"\n\tmc_timed_code=$?\n\t[ -z \"$mc_time\" ] || printf 'FLUXTIME %s wall time %s s\\n' \"$mc_label\" \"$(($(date +%s) - mc_began))\"\n\treturn \"$mc_timed_code\"\n}\n\n# mc_prepare makes what the broker needs: its directories, its configuration, and a certificate that only this user\n# reads, since Flux accepts no other.\nmc_prepare() {\n\t[ \"${#mc_run_dir}\" -lt 80 ] || mc_run_dir=$(mktemp -d /tmp/minicluster.XXXXXX) # the path of a socket is bounded\n\tmkdir -p \"$mc_run_dir\" \"$mc_base/state\" \"$mc_private/curve\" \"$mc_private/broker\" &&\n\t\tchmod 700 \"$mc_run_dir\" \"$mc_base/state\" ||\n\t\tmc_die \"user $(id -u) can't write $mc_base: set pod.securityContext.fsGroup to a group of that user\"\n\tprintf '%s' \"$mc_run_dir\" >\"$mc_private/rundir\"\n\t(umask 077 && cat \"$mc_secret/curve.cert\" >\"$mc_private/curve/curve.cert\") ||\n\t\tmc_die \"user $(id -u) can't read the certificate: set pod.securityContext.fsGroup to a group of that user\"\n\tmc_configure <\"$mc_config/broker.toml\" >\"$mc_private/broker/broker.toml\"\n\t[ -z \"$mc_resources\" ] || mc_count >\"$mc_private/R\" ||\n\t\tmc_die \"flux R encode --local can't tell this node's cores: set resources.limits.cpu\"\n\tprintf '%s\\n' \\\n\t\t\"export PATH='$PATH'\" \\\n\t\t\"export PYTHONPATH='${PYTHONPATH:-}'\" \\\n\t\t\"export LD_LIBRARY_PATH='${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$mc_base/view/lib'\" \\\n\t\t\"export fluxsocket='local://$mc_run_dir/local'\" \\\n\t\t\"export FLUX_URI='local://$mc_run_dir/local'\" >\"$mc_base/flux-view.sh\"\n}\n\n# mc_configure copies the broker's configuration. The certificate is where this script has put it. A file with the\n# resources (path = \".../R\", as flux-operator has it) that no one has made is made here: see mc_count.\nmc_configure() {\n\tmc_resources=''\n\twhile IFS= read -r mc_line || [ -n \"$mc_line\" ]; do\n\t\tcase ${mc_line#\"${mc_line%%[! \t]*}\"} in\n\t\tcurve_cert*=*)\n\t\t\tmc_line=\"curve_cert = \\\"$mc_private/curve/curve.cert\\\"\"\n\t\t\t;;\n\t\tpath*=*/R[\\\"\\']*)\n\t\t\tmc_path=${mc_line#*[\\\"\\']}\n\t\t\tif [ ! -e \"${mc_path%%[\\\"\\']*}\" ]; then\n\t\t\t\tmc_resources=1\n\t\t\t\tmc_line=\"path = \\\"$mc_private/R\\\"\"\n\t\t\tfi\n\t\t\t;;\n\t\tesac\n\t\tprintf '%s\\n' \"$mc_line\"\n\tdone\n}\n\n# mc_count writes the resources of all hosts: each is believed to have as many cores as this node has for this pod.\nmc_count() {\n\tif [ -z \"$mc_gpus\" ]; then\n\t\tflux R encode --hosts=\"$mc_hosts\" --local\n\t\treturn\n\tfi\n\tmc_cores=$(flux R encode --local | flux R decode --count=core) && [ \"$mc_cores\" -ge 1 ] &&\n\t\tflux R encode --hosts=\"$mc_hosts\" --cores=\"0-$((mc_cores - 1))\" --gpus=\"$mc_gpus\"\n}\n\n# mc_broker runs a broker, with the words of its initial program, if there is one.\nmc_broker() {\n\t[ \"$mc_rank\" != 0 ] || [ -z \"$mc_archive\" ] || [ ! -e \"$mc_archive\" ] ||\n\t\tset -- \"-Scontent.restore=$mc_archive\" \"$@\"\n\t[ -z \"$mc_interactive\" ] || set -- -Sbroker.rc2_none \"$@\"\n\t[ -z \"$mc_zeromq\" ] || set -- -Stbon.zmqdebug=1 \"$@\"\n\tmc_timed fluxstart flux start ${mc_wrap:+\"--wrap=$mc_wrap\"} \\\n\t\t\"--config-path=$mc_private/broker\" \\\n\t\t\"-Srundir=$mc_run_dir\" \\\n\t\t\"-Sstatedir=$mc_base/state\" \\\n\t\t\"-Slocal-uri=local://$mc_run_dir/local\" \\\n\t\t\"-Shostname=$mc_name-$mc_rank\" \\\n\t\t\"-Sbroker.quorum=$mc_quorum\" \\\n\t\t\"$mc_topology\" \\\n\t\t\"-Stbon.connect_timeout=$mc_connect_timeout\" \\\n\t\t\"-Slog-stderr-level=$mc_log_level\" \\\n\t\t-Slog-stderr-mode=local \\\n\t\t\"$@\"\n}\n\n# mc_work is what the leader runs: inside of its broker, or by itself.\nmc_work() {\n\tset -- \"$mc_shell\" \"$mc_scripts/run.sh\" \"$mc_shell\" \"$mc_scripts\" \"$mc_private\" \"$mc_logs\"\n\tif [ -n \"$mc_disabled\" ]; then\n\t\tmc_run \"$@\"\n\telif [ -n \"$mc_interactive\" ]; then\n\t\tmc_say \"the cluster is interactive: . $mc_base/flux-view.sh && flux proxy \\$fluxsocket bash\"\n\t\tmc_broker\n\telse\n\t\tmc_broker \"$@\"\n\tfi\n}\n\n# mc_pause waits for so many seconds, or until the pod is told to stop.\nmc_pause() {\n\tmc_run sleep \"$1\"\n\t[ -z \"$mc_stopping\" ] || mc_finish 143\n}\n\n# mc_follow is what a worker does until the leader has ended.\nmc_follow() {\n\tmc_wait=1\n\twhile :; do\n\t\tif [ -n \"$mc_disabled\" ]; then\n\t\t\tmc_pause 3600\n\t\t\tcontinue\n\t\tfi\n\t\tmc_broker && mc_finish 0 # the leader has ended the cluster\n\t\t[ -z \"$mc_stopping\" ] || mc_finish 143\n\t\t[ -z \"$mc_complete_workers\" ] || mc_finish 0\n\t\tmc_say \"the broker has ended with $mc_timed_code; it is started again in $mc_wait s\"\n\t\tmc_pause \"$mc_wait\"\n\t\t[ \"$mc_wait\" -ge 15 ] || mc_wait=$((mc_wait * 2))\n\tdone\n}\n\nmc_piece init init\nif [ -z \"$mc_disabled\" ]; then\n\tmc_find_flux ||\n\t\tmc_die \"user $(id -u) can't write $mc_software, where Flux looks for its libraries: set pod.securityContext.runAsUser, so that it is mounted there\"\n\tcommand -v flux >/dev/null 2>&1 ||\n\t\tmc_die \"there is no flux on the PATH ($PATH): take an image that has it, or let flux.container bring it\"\nfi\nmc_piece pre pre\nif [ -z \"$mc_disabled\" ]; then\n\tmc_prepare\nfi\nmc_say \"$mc_name-$mc_rank starts\"\nif [ \"$mc_rank\" = 0 ]; then\n\tmc_piece broker-pre brokerPre\n\tmc_work\n\tmc_finish \"$?\"\nelse\n\tmc_piece worker-pre workerPre\n\tmc_follow\nfi\n",
                "view.sh": "#!/bin/sh\n# Copies Flux from the image of the init container into a volume. Argument: the directory of the volume.\nset -e\nmkdir -p \"$1/view\"\ncp -R /opt/view/. \"$1/view/\"\n[ ! -d /opt/software ] || cp -R /opt/software \"$1/\"\n"
              },
              "kind": "ConfigMap",
              "metadata": {
                "labels": {
                  "api.practice.com/minicluster": "flux"
                },
                "name": "flux-entrypoint",
                "namespace": "default"
              }
            }
          },
          {
            "object": {
              "apiVersion": "v1",
              "kind": "Service",
              "metadata": {
                "labels": {
                  "api.practice.com/minicluster": "flux"
                },
                "name": "flux",
                "namespace": "default"
              },
              "spec": {
                "clusterIP": "None",
                "ports": [
                  {
                    "name": "flux",
                    "port": 8050,
                    "protocol": "TCP",
                    "targetPort": 8050
                  }
                ],
                "publishNotReadyAddresses": true,
                "selector": {
                  "api.practice.com/minicluster-uid": "00000000-0000-4000-8000-000000000001"
                }
              },
              "status": {
                "loadBalancer": {}
              }
            }
          },
          {
            "object": {
              "apiVersion": "v1",
              "data": {
                "broker.toml": "[access]\nallow-guest-user = true\nallow-root-owner = true\n\n[bootstrap]\ncurve_cert = \"/mnt/flux/config/curve/curve.cert\"\ndefault_port = 8050\ndefault_bind = \"tcp://eth0:%p\"\ndefault_connect = \"tcp://%h.flux.default.svc.cluster.local:%p\"\nhosts = [{ host = \"flux-[0-1]\" }]\n\n[resource]\nnoverify = true\npath = \"/mnt/flux/config/R\"\n"
              },
              "kind": "ConfigMap",
              "metadata": {
                "labels": {
                  "api.practice.com/minicluster": "flux"
                },
                "name": "flux-flux-config",
                "namespace": "default"
              }
            }
          },
          {
            "object": {
              "apiVersion": "v1",
              "data": {
                "curve.cert": "digest:b0101197584dd946c17ff4a7704b9de5"
              },
              "kind": "Secret",
              "metadata": {
                "labels": {
                  "api.practice.com/minicluster": "flux"
                },
                "name": "flux-curve",
                "namespace": "default"
              },
              "type": "Opaque"
            },
            "createOnly": true
          }
        ],
        "prune": [
          "ConfigMap",
          "Secret",
          "Service",
          "Deployment.apps"
        ],
        "status": {
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "pods may be made",
              "observedGeneration": 1,
              "reason": "Admitted",
              "status": "True",
              "type": "Admitted"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 of 2 pods ready",
              "observedGeneration": 1,
              "reason": "PodsNotReady",
              "status": "False",
              "type": "PodsReady"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "the leader's broker isn't up, or waits for its quorum of 2",
              "observedGeneration": 1,
              "reason": "BrokerNotReady",
              "status": "False",
              "type": "BrokerReady"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 of 2 pods ready",
              "observedGeneration": 1,
              "reason": "Starting",
              "status": "False",
              "type": "Running"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 of 2 pods ready",
              "observedGeneration": 1,
              "reason": "Starting",
              "status": "False",
              "type": "Ready"
            }
          ],
          "maximumSize": 2,
          "observedGeneration": 1,
          "selector": "api.practice.com/minicluster-uid=00000000-0000-4000-8000-000000000001,batch.kubernetes.io/job-name=flux",
          "startSize": 2,
          "startTime": "2026-01-01T00:00:00Z",
          "state": "Starting"
        },
        "events": [
          {
            "type": "Normal",
            "reason": "Admitted",
            "note": "starts with 2 pods"
          }
        ]
      },
      "result": {
        "changes": [
          {
            "object": "ConfigMap default/flux-entrypoint",
            "reason": "Created"
          },
          {
            "object": "ConfigMap default/flux-flux-config",
            "reason": "Created"
          },
          {
            "object": "Secret default/flux-curve",
            "reason": "Created"
          },
          {
            "object": "Service default/flux",
            "reason": "Created"
          }
        ],
        "requeueAfter": 50000000
      },
      "requests": [
        {
          "verb": "get",
          "object": "Secret default/flux-curve",
          "error": "secrets \"flux-curve\" not found"
        },
        {
          "verb": "get",
          "object": "Secret default/flux-curve",
          "error": "secrets \"flux-curve\" not found"
        },
        {
          "verb": "create",
          "object": "Secret default/flux-curve"
        },
        {
          "verb": "create",
          "object": "Service default/flux"
        },
        {
          "verb": "create",
          "object": "ConfigMap default/flux-entrypoint"
        },
        {
          "verb": "create",
          "object": "ConfigMap default/flux-flux-config"
        },
        {
          "verb": "patch",
          "object": "MiniCluster.api.practice.com default/flux",
          "subresource": "status"
        }
      ]
    }
  ]
}
`
