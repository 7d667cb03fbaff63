/** What Node takes for the main entry: everything of any runtime, and reports. */
import './report/index.js';

export * from './index.js';
