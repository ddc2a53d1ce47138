select content
from measurements
where name = %(name)s and path = %(path)s and part = %(part)s
