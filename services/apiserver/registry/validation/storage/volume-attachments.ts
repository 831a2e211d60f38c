import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At } from '../checks/at.js';
import type { StringMap } from '../checks/labels.js';
import { checkRule, checkText } from '../checks/members.js';
import type { VolumeSpec } from '../core/persistent-volumes.js';
import { inlineVolumeCheck } from '../core/persistent-volumes.js';
import type { KindValidation, Problems } from '../types.js';
import { checkDriverName } from '../volumes/sources.js';

interface Source {
  readonly persistentVolumeName?: string;
  readonly inlineVolumeSpec?: VolumeSpec;
}

interface AttachmentSpec {
  readonly attacher?: string;
  readonly source?: Source;
  readonly nodeName?: string;
}

interface AttachmentStatus {
  readonly attachmentMetadata?: StringMap;
  readonly attachError?: { readonly message?: string };
  readonly detachError?: { readonly message?: string };
}

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
type InlineCheck = ReturnType<typeof inlineVolumeCheck>;

function checkSource(at: At, { persistentVolumeName: name, inlineVolumeSpec }: Source, checkInline: InlineCheck): void {
  if (name !== undefined && inlineVolumeSpec !== undefined) at.forbidden('', ONE_SOURCE);
  else if (name === '') at.required('persistentVolumeName', 'must specify non empty persistentVolumeName');
  else if (inlineVolumeSpec !== undefined) checkInline(at.child('inlineVolumeSpec'), inlineVolumeSpec);
  else if (name === undefined) at.required('', ONE_SOURCE);
}

const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;

function checkStatus(attachment: ApiObject, problems: Problems): void {
  const at = At.root(problems, 'status');
  const { attachmentMetadata = {}, ...errors }: AttachmentStatus = attachment['status'] ?? {};
  let bytes = 0;
  for (const [key, value] of Object.entries(attachmentMetadata)) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_METADATA_BYTES) at.tooLong('attachmentMetadata', MAX_METADATA_BYTES);
  for (const member of ['attachError', 'detachError'] as const) {
    const { message = '' } = errors[member] ?? {};
    // The limit that is told is another one; clients know it so.
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) at.child(member).tooLong('message', MAX_METADATA_BYTES);
  }
}

export const volumeAttachments = (vocabulary: Vocabulary): KindValidation => {
  const checkInline = inlineVolumeCheck(vocabulary);
  return {
    object: (attachment, problems) => {
      const at = At.root(problems, 'spec');
      const { attacher, source = {}, nodeName = '' }: AttachmentSpec = attachment['spec'] ?? {};
      checkDriverName(at, 'attacher', attacher);
      checkSource(at.child('source'), source, checkInline);
      checkText(at, 'source.persistentVolumeName', source.persistentVolumeName, dns1123Subdomain);
      checkRule(at, 'nodeName', nodeName, dns1123Subdomain);
    },
    parts: { status: (next, _old, problems) => checkStatus(next, problems) },
  };
};
