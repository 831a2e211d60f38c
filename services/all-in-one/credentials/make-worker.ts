import { workerData } from 'node:worker_threads';
import { make, type MakeRequest } from './make.js';

await make(workerData as MakeRequest, new Date()); // who starts this thread gives it that
