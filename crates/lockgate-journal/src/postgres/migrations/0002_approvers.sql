-- Questions that need several people: who said yes so far, as JSON, with their roles and how they proved who they are.
ALTER TABLE lockgate.approval ADD COLUMN yeses text NOT NULL DEFAULT '[]';
