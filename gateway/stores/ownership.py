"""Who works on a conversation, and since when it wants to be worked on, in SQL: the rows of conversations and nodes.

Rule 1: what changes a conversation's messages or approvals takes its row first, so that whoever settles it behind that
        overlooks none.
Rule 2: an owned conversation is due, and stays so; after its owner's death it stands at its old place in the line.
Rule 3: only whoever parks a conversation takes it out of the line while its run waits for approval. Given back in any
        other way it comes up again, since nobody knows whether the question was shown.
"""

# One process, so every node of the past is dead. Several will delete only those whose `until` has passed.
BURY_NODES = "delete from gw_node"

# `until` stays null: that this node lives is shown by the lock that it holds, not by a heartbeat.
JOIN = "insert into gw_node(id) values($1)"

# After the dead are buried, not together with them: whatever else dies in between is freed by the next one.
FREE_ORPHANS = """
update gw_conv set owner = null
where owner is not null and not exists(select 1 from gw_node where gw_node.id = gw_conv.owner)"""

# The update changes nothing. It takes the row's lock before the message gets its number (rule 1).
LOCK = "insert into gw_conv(id) values($1) on conflict(id) do update set id = excluded.id"

# The same for what makes no conversation: where there is none, there is nothing to change either.
LOCK_KNOWN = "update gw_conv set id = id where id = $1"

# A conversation is due since its first wish to be; idle where nothing is open; as it was while it waits for approval
# (rule 3). Needs the row's lock (rule 1). Returns since when it can be claimed.
SETTLE = """
update gw_conv set due = case
    when not exists(select 1 from gw_open where conv = $1) then null
    when exists(select 1 from gw_waiting where conv = $1) then due
    else coalesce(due, {now}) end
where id = $1 returning case when owner is null then due end"""

# `due` stays, so that a conversation whose owner dies goes back to its old place in the line.
CLAIM = """
update gw_conv set owner = $1 where id in (
    select id from gw_conv where due is not null and owner is null order by due, id limit $2 {skip_locked})
returning id, due"""

# Guard: ours, and locked until the commit.
HOLD = "update gw_conv set owner = owner where id = $1 and owner = $2 returning id"

# Guard: ours until now. It goes to the end of the line.
FREE = "update gw_conv set owner = null, due = {now} where id = $1 and owner = $2 returning id"

# Guard: ours until now. It leaves the line.
PARK = "update gw_conv set owner = null, due = null where id = $1 and owner = $2 returning id"
