import { BACKUP_COMMANDS } from './backup/commands.js';
import type { Command } from './command.js';
import { ETCD_COMMANDS } from './etcd/commands.js';
import { RESTORE } from './restore/command.js';

export const COMMANDS: readonly Command[] = [...BACKUP_COMMANDS, RESTORE, ...ETCD_COMMANDS];
