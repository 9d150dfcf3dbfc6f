// The values of the server's API, as ui/API.md describes them. What is empty is absent.

export type Tone = "good" | "bad" | "run" | "wait" | "quiet";

export interface Session {
  mode: "loopback" | "cluster";
  user: string;
  groups?: string[];
  server: string;
  context?: string;
  namespace?: string;
  version: string;
  login: "link" | "token" | "proxy";
}

export interface Kind {
  kind: string;
  resource: string;
  apiVersion: string;
  namespaced: boolean;
  verbs?: Record<string, string[]>;
}

export interface Access {
  namespaces?: string[];
  allNamespaces?: boolean;
  kinds?: Kind[];
}

export interface Row {
  uid: string;
  kind: string;
  apiVersion: string;
  namespace?: string;
  name: string;
  state?: string;
  tone?: Tone;
  reason?: string;
  message?: string;
  done?: number;
  total?: number;
  failed?: number;
  created?: string;
  started?: string;
  ended?: string;
  labels?: Record<string, string>;
  suspended?: boolean;
  paused?: boolean;
  deleting?: boolean;
  queue?: string;
  size?: number;
  actions?: string[];
  counts?: Counts;
}

export interface Counts {
  total?: number;
  pending?: number;
  running?: number;
  suspended?: number;
  succeeded?: number;
  failed?: number;
  skipped?: number;
}

export interface Layer {
  first: number;
  count: number;
  x: number;
}

export interface Graph {
  names: string[];
  layer: number[];
  x: number[];
  y: number[];
  flags: number[];
  edges: number[];
  layers: Layer[];
  order: number[];
  width: number;
  height: number;
  nodeWidth: number;
  nodeHeight: number;
  when?: Record<string, string>;
}

export interface FlowNode {
  i: number;
  state?: string;
  tone?: Tone;
  job?: string;
  attempts?: number;
  started?: string;
  ended?: string;
  message?: string;
}

export interface ObjectName {
  kind: string;
  namespace?: string;
  name: string;
}

export interface Explanation {
  phase?: string;
  reason?: string;
  message?: string;
  next?: string;
  object?: ObjectName;
  path?: { kind: string; name: string; state?: string }[];
  others?: number;
  unread?: string[];
}

export interface Container {
  name: string;
  init?: boolean;
  state?: string;
  reason?: string;
  exitCode?: number;
  restarts?: number;
}

export interface Pod {
  uid: string;
  name: string;
  namespace?: string;
  state?: string;
  tone?: Tone;
  node?: string;
  created?: string;
  started?: string;
  ended?: string;
  restarts?: number;
  containers?: Container[];
  rank?: number;
  role?: string;
  job?: string;
  ready?: boolean;
}

export interface ClusterEvent {
  uid: string;
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  last?: string;
  about?: string;
}

export interface InOut {
  inputs?: { name: string; value?: string; from?: string }[];
  outputs?: { name: string; value?: string }[];
}

export interface MapNode {
  name: string;
  state?: string;
  tone?: Tone;
  message?: string;
  job?: string;
}

export interface Source {
  kind: string;
  namespace?: string;
  state: "loading" | "live" | "limited" | "forbidden" | "absent" | "unreachable";
  message?: string;
}

export interface Quota {
  name: string;
  quota?: string;
  used?: string;
  free?: string;
  maximum?: string;
  share?: number;
}

export interface Admitted {
  namespace: string;
  name: string;
  since?: string;
  pods?: number;
  resources?: Record<string, string>;
  state?: string;
  ends?: string;
}

export interface Waiting {
  position: number;
  namespace: string;
  name: string;
  since?: string;
  priority?: number;
  reason?: string;
  message?: string;
  eta?: string;
  etaUnknown?: string;
}

export interface Queue {
  name: string;
  ready?: string;
  missing?: boolean;
  hidden?: boolean;
  strategy?: string;
  cohort?: string;
  manager?: { name: string };
  usage?: Quota[];
  admitted?: Admitted[];
  waiting?: Waiting[];
  pending?: number;
}

export interface CompareNode {
  name: string;
  a?: FlowNode;
  b?: FlowNode;
  aSeconds?: number;
  bSeconds?: number;
  delta?: number;
}

export interface Comparison {
  a: Row;
  b: Row;
  nodes?: CompareNode[];
  spec?: { path: string; a?: string; b?: string }[];
}

export interface FieldError {
  field?: string;
  message: string;
}

// A part of an OpenAPI v3 schema, of the fields that the form reads.
export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
}
