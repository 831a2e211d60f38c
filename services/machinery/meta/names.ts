/**
 * A rule for a text: what is wrong with it, in the words that clients know; nothing when it is right. All of them take
 * time linear in the text, which is as long as a body may be.
 */
export type TextRule = (text: string) => readonly string[];

const LABEL_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_PATTERN = String.raw`${LABEL_PATTERN}(\.${LABEL_PATTERN})*`;
const DNS1035_PATTERN = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE_PATTERN = `(${QUALIFIED_PATTERN})?`;
const QUALIFIED_PROBLEM =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_EXAMPLES = ['MyName', 'my.name', '123-abc'];
const NONE: readonly string[] = [];

/** The double space between examples is in the original, and clients compare. */
export const explained = (problem: string, pattern: string, examples: readonly string[]): string =>
  `${problem} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`;

interface PatternRule {
  readonly pattern: string;
  readonly max: number;
  readonly problem: string;
  readonly examples: readonly string[];
}

function patternRule({ pattern, max, problem, examples }: PatternRule): TextRule {
  const whole = new RegExp(`^(?:${pattern})$`);
  const mismatch = explained(problem, pattern, examples);
  const tooLong = `must be no more than ${max} characters`;
  return (text) => {
    const matches = whole.test(text);
    if (matches && text.length <= max) return NONE;
    return [...(text.length > max ? [tooLong] : []), ...(matches ? [] : [mismatch])];
  };
}

export const dns1123Label: TextRule = patternRule({
  pattern: LABEL_PATTERN,
  max: 63,
  problem:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  examples: ['my-name', '123-abc'],
});

export const dns1123Subdomain: TextRule = patternRule({
  pattern: SUBDOMAIN_PATTERN,
  max: 253,
  problem:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  examples: ['example.com'],
});

export const dns1035Label: TextRule = patternRule({
  pattern: DNS1035_PATTERN,
  max: 63,
  problem:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  examples: ['my-name', 'abc-123'],
});

export const labelValue: TextRule = patternRule({
  pattern: VALUE_PATTERN,
  max: 63,
  problem:
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ['MyValue', 'my_value', '12345'],
});

const namePart = patternRule({
  pattern: QUALIFIED_PATTERN,
  max: 63,
  problem: QUALIFIED_PROBLEM,
  examples: QUALIFIED_EXAMPLES,
});
const SHAPE_PROBLEM = `a qualified name ${explained(QUALIFIED_PROBLEM, QUALIFIED_PATTERN, QUALIFIED_EXAMPLES)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;

/** `name` or `prefix/name`: keys of labels and annotations, and finalizers. */
export const qualifiedName: TextRule = (text) => {
  const slash = text.indexOf('/');
  if (slash < 0) return part('name', text, namePart);
  if (text.includes('/', slash + 1)) return [SHAPE_PROBLEM];
  const prefix = part('prefix', text.slice(0, slash), dns1123Subdomain);
  const name = part('name', text.slice(slash + 1), namePart);
  return prefix.length === 0 ? name : [...prefix, ...name];
};

function part(which: string, text: string, rule: TextRule): readonly string[] {
  const problems = rule(text);
  if (problems.length === 0) return NONE;
  return [...(text === '' ? [`${which} part must be non-empty`] : []), ...problems.map((p) => `${which} part ${p}`)];
}

/** What may stand in a URL between two slashes. */
export const pathSegment: TextRule = (text) =>
  text === '.' || text === '..' ? [`may not be '${text}'`] : pathSegmentPrefix(text);

const pathSegmentPrefix: TextRule = (text) =>
  ['/', '%'].filter((c) => text.includes(c)).map((c) => `may not contain '${c}'`);

interface NameRule {
  readonly name: TextRule;
  /** For `generateName`, behind which more will stand. */
  readonly prefix: TextRule;
}

/** A prefix may end in a dash, for what follows ends in a letter or digit. */
const maskingTrailingDash =
  (rule: TextRule): TextRule =>
  (text) =>
    rule(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const dnsRule = (rule: TextRule): NameRule => ({ name: rule, prefix: maskingTrailingDash(rule) });

const NAME_RULES: ReadonlyMap<string, NameRule> = new Map([
  ['dns1123-label', dnsRule(dns1123Label)],
  ['dns1123-subdomain', dnsRule(dns1123Subdomain)],
  ['dns1035-label', dnsRule(dns1035Label)],
]);
const PATH_SEGMENT_RULE: NameRule = { name: pathSegment, prefix: pathSegmentPrefix };

/**
 * The rule of that name in the name-rules data. Rules without a text form of their own (an address, say) are the
 * kind's business and hold at least what a URL asks for.
 */
export const nameRule = (rule: string): NameRule => NAME_RULES.get(rule) ?? PATH_SEGMENT_RULE;
