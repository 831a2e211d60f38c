import { isJsonObject } from '../meta/own.js';

/**
 * A set of fields in the form that it is stored and sent in. Members are path elements (`f:name`, `k:{"name":"c"}`,
 * `v:"x"`, `i:0`); a node without members is itself in the set, one with members is if it has the member `.`.
 *
 * Trees are canonical: members are sorted by their text, and `{".":{}}` is written `{}`; equal sets have equal bytes.
 * They are shared freely and never changed. As keys carry a prefix, none can be mistaken for what objects inherit.
 */
export interface FieldsTree {
  readonly [element: string]: FieldsTree;
}
export type TreeDraft = Record<string, FieldsTree>;

/** The node as a member of its own set. */
export const SELF = '.';
/** A node that is in the set, without any below it. */
export const LEAF: FieldsTree = Object.freeze({});
/** The empty set: the root stands for no field. */
export const NO_FIELDS: FieldsTree = LEAF;

/** Whether a root holds no field. */
export const isEmpty = (root: FieldsTree): boolean => isLeaf(root);

export function isLeaf(node: FieldsTree): boolean {
  for (const _ in node) return false;
  return true;
}

/** Whether the node itself is in the set. */
export const isMember = (node: FieldsTree): boolean => node[SELF] !== undefined || isLeaf(node);

export function equal(a: FieldsTree, b: FieldsTree): boolean {
  if (a === b) return true;
  let more = 0; // members of `a`, then those of `b` taken off
  for (const key in a) {
    const mine = a[key];
    const theirs = b[key];
    if (mine === undefined || theirs === undefined || !equal(mine, theirs)) return false;
    more++;
  }
  for (const key in b) if (b[key] !== undefined) more--;
  return more === 0;
}

/** The difference of two sets, path by path: the children of a removed parent stay. `a` itself if nothing goes. */
export function difference(a: FieldsTree, b: FieldsTree): FieldsTree {
  return isLeaf(a) || isLeaf(b) ? a : (withoutMembers(a, b) ?? NO_FIELDS);
}

/** Of two nodes; undefined when nothing is left. */
function minus(a: FieldsTree, b: FieldsTree): FieldsTree | undefined {
  if (a === b) return undefined;
  if (isLeaf(a)) return isMember(b) ? undefined : a;
  return withoutMembers(a, isLeaf(b) ? { [SELF]: LEAF } : b);
}

function withoutMembers(a: FieldsTree, b: FieldsTree): FieldsTree | undefined {
  let changes: Map<string, FieldsTree | undefined> | undefined;
  for (const key in b) {
    const mine = a[key];
    const theirs = b[key];
    if (mine === undefined || theirs === undefined) continue;
    const left = minus(mine, theirs);
    if (left !== mine) (changes ??= new Map()).set(key, left);
  }
  return changes === undefined ? a : changed(a, changes);
}

/** `a` with some members replaced or, where undefined, left out; undefined when none is left. */
function changed(a: FieldsTree, changes: ReadonlyMap<string, FieldsTree | undefined>): FieldsTree | undefined {
  const out: TreeDraft = {};
  let count = 0;
  for (const key in a) {
    const node = changes.has(key) ? changes.get(key) : a[key];
    if (node === undefined) continue;
    out[key] = node;
    count++;
  }
  if (count === 0) return undefined;
  return count === 1 && out[SELF] !== undefined ? LEAF : out;
}

/** The intersection of two sets. */
export function intersection(a: FieldsTree, b: FieldsTree): FieldsTree {
  return isLeaf(a) || isLeaf(b) ? NO_FIELDS : (common(a, b) ?? NO_FIELDS);
}

function common(a: FieldsTree, b: FieldsTree): FieldsTree | undefined {
  if (a === b) return a;
  if (isLeaf(a)) return isMember(b) ? a : undefined;
  if (isLeaf(b)) return isMember(a) ? b : undefined;
  let out: TreeDraft | undefined;
  let hasChildren = false;
  for (const key in b) {
    const mine = a[key];
    const theirs = b[key];
    const node = mine === undefined || theirs === undefined ? undefined : common(mine, theirs);
    if (node === undefined) continue;
    (out ??= {})[key] = node;
    hasChildren ||= key !== SELF;
  }
  return out === undefined || hasChildren ? out : LEAF;
}

/** The union of two sets. `a` itself if `b` adds nothing. */
export function union(a: FieldsTree, b: FieldsTree): FieldsTree {
  if (isLeaf(a)) return b;
  return isLeaf(b) ? a : withMembers(a, b);
}

function plus(a: FieldsTree, b: FieldsTree): FieldsTree {
  if (a === b) return a;
  if (isLeaf(b)) return isMember(a) ? a : withSelf(a);
  if (isLeaf(a)) return isMember(b) ? b : withSelf(b);
  return withMembers(a, b);
}

/** The union of many sets. */
export const unionAll = (roots: readonly FieldsTree[]): FieldsTree =>
  joinNodes(roots.filter((root) => !isEmpty(root))) ?? NO_FIELDS;

/** The union of nodes; undefined for none. In halves: one by one, a large node would be copied for each. */
export function joinNodes(nodes: readonly FieldsTree[]): FieldsTree | undefined {
  if (nodes.length < 2) return nodes[0];
  const middle = nodes.length >> 1;
  const left = joinNodes(nodes.slice(0, middle));
  const right = joinNodes(nodes.slice(middle));
  return left && right && plus(left, right);
}

const withSelf = (node: FieldsTree): FieldsTree => ({ [SELF]: LEAF, ...node });

function withMembers(a: FieldsTree, b: FieldsTree): FieldsTree {
  let changes: Map<string, FieldsTree> | undefined;
  let isLonger = false;
  for (const key in b) {
    const mine = a[key];
    const theirs = b[key];
    if (theirs === undefined) continue;
    const both = mine === undefined ? theirs : plus(mine, theirs);
    if (both === mine) continue;
    (changes ??= new Map()).set(key, both);
    isLonger ||= mine === undefined;
  }
  if (changes === undefined) return a;
  const keys = Object.keys(a);
  if (isLonger) {
    for (const key of changes.keys()) if (a[key] === undefined) keys.push(key);
    keys.sort();
  }
  const out: TreeDraft = {};
  for (const key of keys) {
    const node = changes.get(key) ?? a[key];
    if (node !== undefined) out[key] = node;
  }
  return out;
}

/** The same members in canonical order; the tree itself when they are. */
export function inOrder(tree: FieldsTree): FieldsTree {
  let previous = '';
  for (const key in tree) {
    if (key < previous) return sorted(tree);
    previous = key;
  }
  return tree;
}

function sorted(tree: FieldsTree): FieldsTree {
  const out: TreeDraft = {};
  for (const key of Object.keys(tree).sort()) {
    const node = tree[key];
    if (node !== undefined) out[key] = node;
  }
  return out;
}

/** The tree with every child replaced by what `change` makes of it; the tree itself when nothing is another. */
export function mapChildren(tree: FieldsTree, change: (element: string, child: FieldsTree) => FieldsTree): FieldsTree {
  let changes: Map<string, FieldsTree> | undefined;
  for (const key in tree) {
    const child = tree[key];
    if (child === undefined || key === SELF) continue;
    const after = change(key, child);
    if (after !== child) (changes ??= new Map()).set(key, after);
  }
  return changes === undefined ? tree : (changed(tree, changes) ?? tree);
}

/** Every path in the set, a level's own before those below it. */
export function pathsOf(root: FieldsTree): readonly (readonly string[])[] {
  const paths: string[][] = [];
  const visit = (node: FieldsTree, path: readonly string[]): void => {
    const children = Object.entries(node).filter(([key]) => key !== SELF);
    for (const [key, child] of children) if (isMember(child)) paths.push([...path, key]);
    for (const [key, child] of children) visit(child, [...path, key]);
  };
  visit(root, []);
  return paths;
}

/** The kinds of path elements, by their first letter. */
export const FIELD = 'f:';
const KEY = 'k:';
const VALUE = 'v:';
const INDEX = 'i:';
const COLON = 0x3a;

export const UNKNOWN_ELEMENT = '?';

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== 'object';

/** The item of a set. */
export const valueElement = (value: unknown): string => VALUE + JSON.stringify(value);

/** The item of a list with keys. @param keys Sorted by name. */
export function keyElement(keys: readonly (readonly [string, unknown])[]): string {
  let text = '';
  for (const [name, value] of keys) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `${KEY}{${text}}`;
}

/** Keys and values that are sure to be written as we would, which nearly all are: not parsed. */
const PLAIN_SCALAR = String.raw`(?:"[^"\\\u0000-\u001f\ud800-\udfff]*"|0|-?[1-9]\d{0,14}|true|false)`;
const PLAIN_VALUE = new RegExp(`^v:${PLAIN_SCALAR}$`);
const PLAIN_KEY = new RegExp(String.raw`^k:\{"([\w-]+)":${PLAIN_SCALAR}(?:,"([\w-]+)":${PLAIN_SCALAR})?\}$`);

/**
 * The element as it is written here: keys sorted, JSON compact.
 *
 * @returns UNKNOWN_ELEMENT for a kind of element that does not exist (yet); undefined for what is none at all.
 */
export function canonicalElement(text: string): string | undefined {
  if (text.charCodeAt(1) !== COLON) return undefined;
  if (text.startsWith(FIELD)) return text;
  if (text.startsWith(KEY)) return canonicalKey(text);
  if (text.startsWith(VALUE)) return canonicalValue(text);
  if (text.startsWith(INDEX)) return /^i:(?:0|-?[1-9]\d{0,14})$/.test(text) ? text : undefined;
  return UNKNOWN_ELEMENT;
}

function canonicalKey(text: string): string | undefined {
  const plain = PLAIN_KEY.exec(text);
  if (plain !== null) {
    const [, first = '', second] = plain;
    if (second === undefined || first < second) return text;
  }
  const keys = parsed(text);
  if (!isJsonObject(keys)) return undefined;
  const entries = Object.entries(keys);
  if (entries.length === 0 || !entries.every(([, value]) => isScalar(value))) return undefined;
  return keyElement(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function canonicalValue(text: string): string | undefined {
  if (PLAIN_VALUE.test(text)) return text;
  const value = parsed(text);
  return value !== undefined && isScalar(value) ? valueElement(value) : undefined;
}

/** The JSON behind the prefix; undefined when it is none, or more than an object of scalars. */
function parsed(element: string): unknown {
  if (!isFlat(element)) return undefined;
  try {
    return JSON.parse(element.slice(2));
  } catch {
    return undefined; // what a client wrote there is no JSON: said by the result
  }
}

/** Deep nesting is slow to parse; what is looked for here has at most one bracket outside strings. */
function isFlat(text: string): boolean {
  let opened = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '\\' && isString) i++;
    else if (char === '"') isString = !isString;
    else if ((char === '[' || char === '{') && !isString && ++opened > 1) return false;
  }
  return true;
}

/** A path as messages show it, e.g. `.spec.template.spec.containers[name="c"].image`. */
export const printPath = (path: readonly string[]): string => path.map(printElement).join('');

export function printElement(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith(FIELD)) return `.${rest}`;
  if (element.startsWith(VALUE)) return `[=${rest}]`;
  const keys = element.startsWith(KEY) ? parsed(element) : undefined;
  if (!isJsonObject(keys)) return `[${rest}]`;
  const shown = Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `[${shown.join(',')}]`;
}
