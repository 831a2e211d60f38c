import type { ApiObject } from '../meta/object.js';

export type Convert = (object: ApiObject) => ApiObject;

/**
 * One served version of a kind beside the version that is stored, the hub. Both functions are pure and return a new
 * object (its untouched parts are shared with the argument), whose apiVersion the converter sets. What the hub can hold
 * and the spoke cannot, the spoke carries in annotations, so that `toHub(fromHub(object))` equals `object`.
 */
export interface Spoke {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly toHub: Convert;
  readonly fromHub: Convert;
}
