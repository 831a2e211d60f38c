import { qualifiedName } from '../../../../machinery/meta/metadata.js';
import type { Namespace } from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, checkRule } from '../checks/at.js';
import type { KindValidation, Problems } from '../types.js';

const BARE = ['orphan', 'foregroundDeletion'];
const NOT_STANDARD = 'name is neither a standard finalizer name nor is it fully qualified';

const isSet = (time: string | null | undefined): boolean => time !== undefined && time !== null && time !== '';

function checkFinalizers({ spec: { finalizers = [] } = {} }: Namespace, problems: Problems, own: string): void {
  const at = At.root(problems, 'spec');
  for (const finalizer of finalizers) {
    checkRule(at, 'finalizers', finalizer, qualifiedName);
    const isBare = !finalizer.includes('/') && finalizer !== own && !BARE.includes(finalizer);
    if (isBare) at.invalid('finalizers', finalizer, NOT_STANDARD);
  }
}

function checkStatus({ metadata, status: { phase = '' } = {} }: Namespace, _old: Namespace, problems: Problems): void {
  const isDeleting = isSet(metadata?.deletionTimestamp);
  const expected = isDeleting ? 'Terminating' : 'Active';
  if (phase === expected) return;
  const why = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleting ? 'not empty' : 'empty'}`;
  At.root(problems, 'status').invalid('Phase', phase, why);
}

export const namespaces = ({ namespaceFinalizer: own }: Vocabulary): KindValidation<Namespace> => ({
  object: (namespace, problems) => checkFinalizers(namespace, problems, own),
  parts: {
    status: checkStatus,
    finalize: (next, _old, problems) => checkFinalizers(next, problems, own),
  },
});
