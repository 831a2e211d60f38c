import { readFileSync } from 'node:fs';

interface PairsFile {
  /** Platform forms that stand for two words; the first is the one an exact match gives. */
  readonly ambiguous: Readonly<Record<string, readonly [string, string]>>;
  readonly pairs: readonly (readonly [platform: string, kubernetes: string])[];
}

const readPairs = (): PairsFile =>
  JSON.parse(readFileSync(new URL('./data/pairs.json', import.meta.url), 'utf8')) as PairsFile; // our own file

/** Nothing without one of these has a second form; most strings of the catalog leave here. */
const SUSPECT = /platform|nodeagent/i;

/** A domain, and the version that follows it in an apiVersion, a path or the key of a type (`<group>/v1.<Kind>`). */
const DOMAIN =
  /((?<![\w.-])(?:[\w-]+\.)*platform\.io)(?![\w-]|\.\w)(\/(v\d+(?:(?:alpha|beta)\d+)?(?![\w-]|\.[^A-Z]))?)?/g;

/** Words beside the domains, a longer word before a shorter one that it contains. */
const WORDS: readonly (readonly [pattern: RegExp, to: string])[] = [
  [/\bplatformctl\b/g, 'kubectl'],
  [/x-platform-/g, 'x-kubernetes-'],
  [/X-Platform-/g, 'X-Kubernetes-'],
  [/PLATFORM_/g, 'KUBERNETES_'],
  [/^io\.platform\./g, 'io.k8s.'],
  [/xPlatform/g, 'xKubernetes'],
  [/platformProxy/g, 'kubeProxy'],
  [/PlatformProxy/g, 'KubeProxy'],
  [/nodeagent/g, 'kubelet'],
  [/Nodeagent/g, 'Kubelet'],
  [/(?<![A-Za-z])platform-/g, 'kube-'],
  [/\bplatform\b/g, 'kubernetes'],
];

/** A key below a domain, as opposed to a group version. */
const LABEL = /^([\w.-]+\.io)\/(?!v\d)./;

/** For each domain the form that all known label keys below it agree on; undefined where they differ. */
function labelDomains(pairs: PairsFile['pairs']): ReadonlyMap<string, string | undefined> {
  const domains = new Map<string, string | undefined>();
  for (const [platform, kubernetes] of pairs) {
    const from = LABEL.exec(platform)?.[1];
    const to = kubernetes.slice(0, kubernetes.indexOf('/'));
    if (from !== undefined) domains.set(from, domains.has(from) && domains.get(from) !== to ? undefined : to);
  }
  return domains;
}

/**
 * A function that gives the Kubernetes form of an identifier.
 *
 * The whole identifier is looked up first. What is not in the table is put together: the domain in the form of its API
 * group (`k8s.io`) before a version or at the end, in the form of the label keys known below it before a slash
 * (`kubernetes.io` where none is known), and the rest word by word.
 */
export function kubernetesTranslator(): (platformForm: string) => string {
  const { ambiguous, pairs } = readPairs();
  const exact = new Map([...pairs, ...Object.entries(ambiguous).map(([from, [to]]) => [from, to] as const)]);
  const labels = labelDomains(pairs);
  const suffixed = (domain: string, to: string): string => domain.slice(0, -'platform.io'.length) + to;

  const domainForm = (domain: string, asKey: boolean): string => {
    if (!asKey) return exact.get(domain) ?? suffixed(domain, 'k8s.io');
    const prefix = exact.get(`${domain}/`);
    if (prefix !== undefined) return prefix.slice(0, -1);
    return labels.get(domain) ?? exact.get(domain) ?? suffixed(domain, 'kubernetes.io');
  };

  return (platformForm) => {
    if (!SUSPECT.test(platformForm)) return platformForm;
    const known = exact.get(platformForm);
    if (known !== undefined) return known;
    const withDomains = platformForm.replace(
      DOMAIN,
      (_, domain: string, slash: string | undefined, version: string | undefined) =>
        `${domainForm(domain, slash !== undefined && version === undefined)}${slash ?? ''}`,
    );
    return WORDS.reduce((text, [pattern, to]) => text.replace(pattern, to), withDomains);
  };
}
