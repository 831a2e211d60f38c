import { refused, specOf, type Check } from './agent-request.js';

/** Tokens of service accounts: only for a pod that runs there, and good only as long as that pod. */
export const tokens: Check = async (d, { node, request }) => {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { apiVersion, kind, name = '', uid = '' } = specOf(request.object).boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') {
    throw refused(request, 'node requested token not bound to a pod');
  }
  if (uid === '') throw refused(request, 'node requested token with a pod binding without a uid');
  const pod = await d.present('pods', request.namespace, name);
  if (pod.metadata.uid !== uid) {
    const why = 'does not match the UID in record. The object might have been deleted and then recreated';
    throw refused(request, `the UID in the bound object reference (${uid}) ${why}`);
  }
  if (specOf(pod).nodeName !== node) {
    throw refused(request, 'node requested token bound to a pod scheduled on a different node');
  }
};
