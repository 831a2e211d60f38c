import { badRequest } from '../../../machinery/meta/status.js';
import type { PodParts } from './objects.js';

/**
 * The container that a request is about: the one it names, or the only one there is.
 *
 * @throws {StatusError} BadRequest, which names those to choose from
 */
export function containerOf({ spec = {} }: PodParts, podName: string, asked: string): string {
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const containers = spec.containers ?? [];
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name = '' }) => name);
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${podName}`);
  }
  const [only] = containers;
  if (containers.length === 1 && only?.name !== undefined) return only.name;
  const choice = containers.length === 0 ? '' : `, choose one of: [${names.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${podName}${choice}`);
}
