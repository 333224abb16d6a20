# The medians of each measure of both servers, and windtunnel's over aimock's.
function median(text,    parts, count, i, j, swap) {
    count = split(text, parts, " ")
    for (i = 1; i <= count; i++)
        for (j = i + 1; j <= count; j++)
            if (parts[j] + 0 < parts[i] + 0) { swap = parts[i]; parts[i] = parts[j]; parts[j] = swap }
    return parts[int((count + 1) / 2)]
}
{
    for (field = 3; field < NF; field += 2) {
        name = $2 " " $field
        if (!(name in known)) { known[name] = 1; names[++total] = name }
        values[$1, name] = values[$1, name] " " $(field + 1)
    }
}
END {
    printf "%-20s %12s %12s %8s\n", "median", "windtunnel", "aimock", "ratio"
    for (number = 1; number <= total; number++) {
        ours = median(values["windtunnel", names[number]])
        theirs = median(values["aimock", names[number]])
        printf "%-20s %12d %12d %8.2f\n", names[number], ours, theirs, ours / (theirs > 0 ? theirs : 1)
    }
}
