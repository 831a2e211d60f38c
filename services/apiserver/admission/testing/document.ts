import * as yaml from 'yaml';
import { parseDocument, type PluginDocument } from '../configuration.js';

/** What a configuration file says to a plugin. @param text YAML. */
export const documentOf = (text: string): PluginDocument => parseDocument(yaml, text, 'plugin.yaml');

/** For a plugin that is configured by `text`, '' for none. */
export const configured = (name: string, text: string): ReadonlyMap<string, PluginDocument> =>
  new Map(text === '' ? [] : [[name, documentOf(text)]]);
