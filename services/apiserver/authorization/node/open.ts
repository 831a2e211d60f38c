import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { follow } from '../../cache/follow.js';
import type { ResourceCache } from '../../cache/resource-cache.js';
import type { ResourceTable } from '../../registry/resources.js';
import { bootstrapPolicy } from '../rbac/bootstrap-policy.js';
import { rulesOf } from '../rbac/rules.js';
import type { Authorizer } from '../authorizer.js';
import { nodeAuthorizer } from './node-authorizer.js';
import { NodeGraph } from './graph.js';

/** The role whose rules say what every agent may do. Nobody is bound to it: the authorizer reads it here. */
const ROLE = 'system:node';

/** @param resources Whose caches it follows from now on. */
export function openNodeAuthorizer(resources: ResourceTable, vocabulary: Vocabulary): Authorizer {
  const graph = new NodeGraph(vocabulary.annotations.mirrorPod);
  const { pods, volumes, attachments } = graph.followers();
  const cacheOf = (group: string, name: string): ResourceCache => {
    const stored = resources.stored(group, name);
    if (stored === undefined) throw new Error(`No declaration of ${name}`);
    return stored.cache;
  };
  follow(cacheOf('', 'pods'), pods);
  follow(cacheOf('', 'persistentvolumes'), volumes);
  follow(cacheOf(vocabulary.groups.storage, 'volumeattachments'), attachments);
  return nodeAuthorizer({ graph, vocabulary, rules: () => rulesOf(roleOf(vocabulary)) });
}

const roleOf = (vocabulary: Vocabulary): ApiObject | undefined =>
  bootstrapPolicy(vocabulary).find(({ object }) => object.kind === 'ClusterRole' && object.metadata.name === ROLE)
    ?.object;
