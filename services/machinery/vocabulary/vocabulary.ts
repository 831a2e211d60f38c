import { kubernetesTranslator } from './translate.js';
import { WORDS } from './words.js';

/** Which words an installation speaks. Fixed at a store's first start (design, decision 2). */
export type VocabularyName = 'platform' | 'kubernetes';

type Translated<T> = T extends string ? string : { readonly [K in keyof T]: Translated<T[K]> };
type Words = Translated<typeof WORDS>;

/** The identifiers that carry the product word, in one installation's form. */
export interface Vocabulary extends Words {
  readonly name: VocabularyName;
  /** This vocabulary's form of an identifier given in the platform form: a key, group, apiVersion, name, header. */
  readonly translate: (platformForm: string) => string;
  /** The name of an extension member of a schema: `list-type` gives `x-platform-list-type`. */
  readonly openApiExtension: (name: string) => string;
  /** The same, and the name that an unmodified kubectl looks for, whatever the vocabulary. */
  readonly openApiExtensions: (name: string) => readonly string[];
  /** Media types of Protobuf bodies: our own, and the one that an unmodified kubectl sends. */
  readonly acceptedProtobufMediaTypes: readonly string[];
  /** Where an unmodified kubectl keeps what it applied last, when it applies by itself. */
  readonly lastAppliedAnnotation: string;
  /** Member of a service account token that holds the claims about its account; a domain. */
  readonly tokenClaim: string;
  /** Custom resources in groups of these domains need an approval annotation. */
  readonly reservedDomains: readonly string[];
}

/**
 * The words that kubectl has built in. Bodies and schemas in the default vocabulary are understood by it, if they carry
 * these.
 */
const KUBECTL = {
  protobufMediaType: 'application/vnd.kubernetes.protobuf',
  extensionPrefix: 'x-kubernetes-',
  metaGroup: 'meta.k8s.io',
  lastAppliedAnnotation: 'kubectl.kubernetes.io/last-applied-configuration',
} as const;

/** Media types that clients may accept in any vocabulary; they are answered with the one that they use. */
export const CLIENT_WORDS = {
  metaGroups: [WORDS.metaGroup, KUBECTL.metaGroup],
  protobufMediaTypes: [WORDS.protobufMediaType, KUBECTL.protobufMediaType],
} as const;

const translators: Readonly<Record<VocabularyName, () => (platformForm: string) => string>> = {
  platform: () => (form) => form,
  kubernetes: kubernetesTranslator,
};

/** The same tree with every string translated. */
function translated<T>(tree: T, translate: (form: string) => string): Translated<T> {
  const walk = (node: unknown): unknown => {
    if (typeof node === 'string') return translate(node);
    if (Array.isArray(node)) return node.map(walk);
    return Object.fromEntries(Object.entries(node as object).map(([key, value]) => [key, walk(value)]));
  };
  return walk(tree) as Translated<T>; // same keys, strings for strings
}

function build(name: VocabularyName): Vocabulary {
  const translate = translators[name]();
  const words = translated(WORDS, translate);
  const extensions = new Map<string, string>();
  const openApiExtension = (extension: string): string => {
    let name = extensions.get(extension);
    if (name === undefined) extensions.set(extension, (name = translate(`x-platform-${extension}`)));
    return name;
  };
  const keyDomain = words.labelPrefixes.own.slice(0, -1);
  return {
    ...words,
    name,
    translate,
    openApiExtension,
    openApiExtensions: (extension) => [
      ...new Set([openApiExtension(extension), `${KUBECTL.extensionPrefix}${extension}`]),
    ],
    acceptedProtobufMediaTypes: [...new Set([words.protobufMediaType, KUBECTL.protobufMediaType])],
    lastAppliedAnnotation: KUBECTL.lastAppliedAnnotation,
    tokenClaim: keyDomain,
    reservedDomains: [...new Set([translate('platform.io'), keyDomain])],
  };
}

const built = new Map<VocabularyName, Vocabulary>();

/** The vocabulary of that name; always the same object. */
export function vocabulary(name: VocabularyName): Vocabulary {
  const known = built.get(name) ?? build(name);
  built.set(name, known);
  return known;
}
